// Package compress recognises compressed bytes by their exact magic and takes off up to three layers of compression, whatever a file's name or headers
// say. It streams: no codec holds more than its window, and a file that declares a larger one is refused before memory is taken.
//
// Read Open first. A zip archive is recognised here and opened by the caller, who can read at random.
package compress
