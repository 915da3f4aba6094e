// Package e2e drives Mangrove as a person and an operator meet it: its tests
// build the three programs, start `mangrove up` on an empty data folder and use
// it from outside, through Chromium, HTTP, files and signals. What is asserted
// here is what somebody would see: pages in the browser, chapters in the library
// folder, requests at a stand-in Site, processes on the machine. It refuses to
// call into a service, to read a table, or to wait for time to pass; what a
// package can show by itself is tested there.
//
// A test that fails leaves a picture of each of its browser windows in
// build/e2e/ and prints the last lines of the console and of every log. Chromium
// is needed; without it the tests are skipped, unless CI is set.
package e2e
