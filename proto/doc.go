// Package proto is the home of Mangrove's private contracts: the .proto files
// under mangrove/ and the Go generated from them under gen/. Nothing here is
// written by hand except the contracts themselves, and nothing here knows a
// database, a file or a page. States cross the wire as the words of the
// glossary, never as numbers, so that a log, a row and a message say the same.
package proto
