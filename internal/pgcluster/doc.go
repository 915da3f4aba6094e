// Package pgcluster knows how a private PostgreSQL cluster is laid out and run:
// which programs, as which user, with which arguments, who may connect, when it
// is ready and which traces of a dead server may be swept away. It starts no
// process and opens no connection: whoever runs the programs hands in a
// function for that, and nothing here listens on a network.
package pgcluster
