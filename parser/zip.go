package parser

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/estuary/connectors/parser/internal/compress"
)

// maxDirectory bounds what is read of an archive before its first member: the central directory, of some hundred thousand members.
const maxDirectory = 64 << 20

// archive goes over the members of a zip archive in the order of its directory.
type archive struct {
	reader *zip.Reader
	bytes  *sequence
	index  int // of the member that is read
	staged int // temporary files that are not of a member
}

// Methods of members beside stored and deflated, https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT §4.4.5.
const (
	zipBzip2 = 12
	zipZstd  = 93
	zipXZ    = 95
)

var methodNames = map[uint16]string{
	1: "shrink", 2: "reduce", 3: "reduce", 4: "reduce", 5: "reduce", 6: "implode", 9: "deflate64", 10: "PKWARE implode", 14: "lzma", 16: "CMPSC", 18: "TERSE", 19: "LZ77",
	94: "mp3", 96: "jpeg", 97: "WavPack", 98: "PPMd", 99: "AES encryption",
}

func openArchive(s *source) (*archive, error) {
	bytes := &sequence{source: s, budget: maxDirectory}
	size := s.size
	if s.local != nil {
		size = s.local.size
	}
	reader, err := zip.NewReader(bytes, size)
	if errors.Is(err, errBudget) {
		return nil, fileError(KindLimit, "the zip archive's directory is larger than %d MiB", maxDirectory>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("the zip archive's directory cannot be read: %w", err)
	}
	bytes.budget = -1
	reader.RegisterDecompressor(zip.Deflate, flate.NewReader)
	for method, format := range map[uint16]compress.Format{zipBzip2: compress.Bzip2, zipZstd: compress.Zstd, zipXZ: compress.XZ} {
		reader.RegisterDecompressor(method, func(in io.Reader) io.ReadCloser { return compress.Member(format, in) })
	}
	return &archive{reader: reader, bytes: bytes, index: -1}, nil
}

func (a *archive) close() { a.bytes.close() }

// office tells whether the archive is a document of an office suite; empty: it is not.
func (a *archive) office() string {
	for _, f := range a.reader.File {
		switch {
		case f.Name == "xl/workbook.xml" || f.Name == "xl/workbook.bin":
			return "it is an Excel workbook (.xlsx), which is not supported: save it as CSV"
		case f.Name == "content.xml" && a.reader.File[0].Name == "mimetype":
			return "it is an OpenDocument file (.ods), which is not supported: save it as CSV"
		case f.Name == "word/document.xml":
			return "it is a Word document (.docx), which is not supported"
		}
	}
	return ""
}

// next finds the next member that is to be read, from the directory's index on; nil: there is none.
func (a *archive) next(index int) *zip.File {
	for ; index < len(a.reader.File); index++ {
		if f := a.reader.File[index]; !hidden(f) {
			a.index = index
			return f
		}
	}
	return nil
}

// hidden tells whether a member is none of the user's data: a folder, or a file that a system has put there, as .DS_Store and __MACOSX/._x.
func hidden(f *zip.File) bool {
	name := strings.ReplaceAll(f.Name, `\`, "/")
	return strings.HasSuffix(name, "/") || f.Mode().IsDir() || strings.HasPrefix(path.Base(name), ".") || strings.HasPrefix(name, "__MACOSX/")
}

// open opens a member.
func (a *archive) open(f *zip.File) (io.ReadCloser, error) {
	const encrypted = 1
	switch known := f.Method == zip.Store || f.Method == zip.Deflate || f.Method == zipBzip2 || f.Method == zipZstd || f.Method == zipXZ; {
	case f.Flags&encrypted != 0:
		return nil, fileError(KindData, "the member is encrypted: pack it without a password")
	case !known:
		name := methodNames[f.Method]
		if name == "" {
			name = "unknown"
		}
		return nil, fileError(KindData, "the member is compressed by method %d (%s), which is not supported: pack it with deflate, bzip2, zstd or xz", f.Method, name)
	}
	body, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("opening the member: %w", err)
	}
	if f.Method == zip.Store {
		return body, nil
	}
	return &member{compress.NewAhead(body), body}, nil
}

// member is decompressed ahead of its reader.
type member struct {
	*compress.Ahead
	body io.Closer
}

func (m *member) Close() error {
	m.Ahead.Close()
	return m.body.Close()
}

// nextMember opens the next member of the archive that has something in it, at a place in it. io.EOF: there is none.
func (r *Reader) nextMember(from position) error {
	f := r.archive.next(r.archive.index + 1)
	if f == nil {
		return io.EOF
	}
	r.file = r.name() + ":" + f.Name
	r.row, r.ended = 0, nil
	body, err := r.archive.open(f)
	if err != nil {
		return err
	}
	return r.begin(described{name: f.Name}, &opened{body: body, size: -1}, cursor{position: from})
}
