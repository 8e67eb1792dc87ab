// Package servetest is what fakes of stores have in common: an HTTP service on loopback, with answers, broken bodies, latency and bandwidth on script.
// s3test and gcstest are made of it.
package servetest
