// Package deploytest holds what deploy/ ships to its word, as tests: the alerts and the
// dashboard ask for metrics that there are, every alert has its runbook, and the unit,
// the image and the composition keep their hardening. It contains no product code,
// nothing imports it, and it builds no image and starts no unit.
package deploytest
