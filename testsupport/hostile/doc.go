// Package hostile gives the parser files that ask for much more memory than they are long. Each has to end in one clear sentence, within 512 MiB.
package hostile
