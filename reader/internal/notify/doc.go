// Package notify tells people elsewhere what waits for them: a Series that has
// failed longer than they care to wait, a Site that refuses, a Job set aside, a
// disk without room, a service that is parked, new chapters. It compares what the
// scraper says with what it has told before, gathers what is new into one message
// for each destination, and keeps what could not be sent. It sends nothing before
// a person has named a destination, and shows nobody the address of one again.
//
// It refuses to decide what is wrong, to repeat itself while a thing lasts, and to
// send a message for each of a thousand Series: a Site's bad day is one line.
package notify
