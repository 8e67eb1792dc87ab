// Package fileblob is a local directory as a bucket.
//
// Keys are paths below the directory, with slashes, in the byte order of whole keys: a directory sorts as its name with a slash, so that a.b comes before
// a/x. Objects are regular files and symbolic links to such; links to directories are not followed. Names that begin with a dot or are no UTF-8 are passed
// over, which is logged once.
//
// The time of an object is its ctime, the only one that cp -p, tar and rsync -t do not set back; of a link the later one of link and file. A rename sets the
// ctime of what is renamed: of a directory that is moved in, not of the files in it. The version is size, ctime in nanoseconds and inode, in hex.
//
// A file that grows while it is read is read up to the size of its version. Other changes in place are found at the latest at the end of a body.
package fileblob
