// Package s3blob reads Amazon S3 and what speaks its protocol.
//
// What is particular about it: requests carry keys as they are, listings come URL-encoded since XML cannot hold every key, versions are ETags and every
// read after the listing is conditional on one (If-Match: times have whole seconds and cannot tell a replacement inside one), the region follows the
// bucket where no endpoint is given, and archived classes are readable while a restored copy exists.
//
// client.go makes the client, list.go lists, read.go reads, errors.go says what an answer means.
package s3blob
