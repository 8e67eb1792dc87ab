// Package blobtest is what every bucket must do: one suite, run by the tests of each store against a store of their own.
package blobtest
