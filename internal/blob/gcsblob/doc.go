// Package gcsblob reads Google Cloud Storage.
//
// What is particular about it: versions are generations, and every read after the listing demands one; the time of an object is that of its generation's
// creation, since the time of its last update also moves when only its metadata is edited; objects stored with a content encoding are read as they are
// stored, for the service would decompress them otherwise, without their length and ranges.
//
// client.go makes the client, bucket.go lists and reads, errors.go says what an answer means.
package gcsblob
