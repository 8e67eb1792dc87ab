package parser

import (
	"bytes"
	"errors"
	"io"

	"github.com/estuary/connectors/parser/internal/compress"
)

// opened is a file, or a member of an archive, whose layers are still on.
type opened struct {
	body   io.ReadCloser
	reopen func(at int64) (io.ReadCloser, error) // nil: it cannot be opened at a byte
	source *source                               // of body, if it is all of a source; else nil
	stream *compress.Stream
	layers int
	size   int64 // of body, as far as it matters for buffers; negative: unknown
}

// close may be called more than once.
func (o *opened) close() {
	if o.stream != nil {
		o.stream.Close()
	}
	if o.body != nil {
		o.body.Close()
		o.body = nil
	}
}

// begin makes r.docs of a file or member.
func (r *Reader) begin(d described, in *opened, from cursor) (err error) {
	defer func() {
		if err != nil {
			in.close()
		}
	}()
	r.threshold, r.window = 0, nil
	if in.stream, err = compress.OpenSize(in.body, in.size, r.config.Compression == "none", func(w string) { r.warnFile("%s", w) }); err != nil {
		return err
	}
	in.layers = len(in.stream.Layers)
	if in.stream.Zip {
		r.compare(d, in.stream)
		return r.beginArchive(in, from)
	}
	head, err := in.stream.Peek(sampleBytes)
	if len(head) == 0 {
		if errors.Is(err, io.EOF) {
			r.docs, err = nothing{}, nil
			in.close()
		}
		return err
	}
	explicit := r.config.Format.kind()
	if explicit != protKind && (explicit != avroKind || r.config.avro().Schema == "") {
		extension := ""
		if all := endings(d.name); len(all) > 0 {
			extension = "." + all[0]
		}
		sentence := compress.Refuse(head)
		if sentence == "" && in.layers == 0 {
			sentence = compress.RefuseNamed(extension, d.contentEncoding, head)
		}
		if sentence != "" {
			return fileError(KindData, "%s", sentence)
		}
	}
	r.compare(d, in.stream)
	container := bytes.HasPrefix(head, avroMagic)
	k, err := r.byMagic(in, head, explicit, d) // head is no more
	if err != nil {
		return err
	}
	if k == parqKind {
		return r.beginParquet(in, from.position)
	}
	if k == auto {
		k = explicit
	}
	if k == auto {
		k = r.config.kindOf(d)
	}
	switch k {
	case avroKind:
		return r.beginAvro(in, container, from.position)
	case protKind:
		return r.beginProtobuf(in, from.position)
	default:
		return r.beginText(d, in, k, explicit, from.position)
	}
}

// compare warns where names, headers or the config promise another compression than the bytes have.
func (r *Reader) compare(d described, stream *compress.Stream) {
	outer := compress.None
	if stream.Zip {
		outer = compress.Zip
	}
	if len(stream.Layers) > 0 {
		outer = stream.Layers[0]
	}
	is := string(outer)
	if outer == compress.None {
		is = "not compressed"
	}
	if promised := d.promised(); promised != outer && promised != compress.None && r.config.Compression != "none" {
		r.warnFile("its name or its headers promise %s, but it is %s; the bytes decide", promised, is)
	}
	if c := r.config.Compression; c != "" && c != "none" && c != string(outer) {
		r.warnFile("the config promises %s, but it is %s; the bytes decide", c, is)
	}
}

// byMagic finds a format that binary files tell themselves.
func (r *Reader) byMagic(in *opened, head []byte, explicit kind, d described) (kind, error) {
	named := explicit
	if named == auto {
		named = r.config.kindOf(d)
	}
	is := auto
	switch {
	case bytes.HasPrefix(head, avroMagic):
		is = avroKind
	case named == parqKind, bytes.HasPrefix(head, parquetMagic), bytes.HasPrefix(head, parquetEncrypted):
		encrypted, err := r.isParquet(in, head)
		switch {
		case err != nil && (named == parqKind || !errors.Is(err, errNoParquet)):
			return auto, err
		case encrypted:
			return auto, fileError(KindData, "it is a Parquet file with an encrypted footer, which is not supported")
		case err == nil:
			is = parqKind
		}
	}
	if is != auto && explicit != auto && is != explicit {
		return auto, fileError(KindConfig, "format is %s, but the file is %s by its first bytes: set format to %s or auto", explicit, is, is)
	}
	return is, nil
}

// beginArchive goes over the members of a zip archive.
func (r *Reader) beginArchive(in *opened, from cursor) error {
	if r.archive != nil {
		return fileError(KindData, "the member is a zip archive itself: pack its members directly")
	}
	s, err := r.random(in)
	if err != nil {
		return err
	}
	in.close()
	if r.archive, err = openArchive(s); err != nil {
		return err
	}
	r.archive.staged = len(r.temporary)
	if sentence := r.archive.office(); sentence != "" {
		return fileError(KindData, "%s", sentence)
	}
	at := position{}
	if from.Begun {
		r.archive.index, at = from.Member-1, from.position
	}
	switch err := r.nextMember(at); {
	case errors.Is(err, io.EOF):
		r.docs = nothing{}
		r.archive.index = len(r.archive.reader.File)
	case err != nil:
		return err
	}
	return nil
}

// random makes what is inside the layers readable at random: by ranges of the source itself, or in a temporary file.
func (r *Reader) random(in *opened) (*source, error) {
	if in.source != nil && in.layers == 0 && in.source.again() && (in.source.size >= 0 || in.source.local != nil) {
		return in.source, nil
	}
	local, err := stage(in.stream, maxStaged)
	if err != nil {
		return nil, err
	}
	r.temporary = append(r.temporary, local)
	s := &source{size: local.size, local: local}
	// What follows reads the copy.
	in.close()
	in.stream, err = compress.Open(io.NewSectionReader(local.file, 0, local.size), true, nil)
	in.source, in.layers, in.reopen, in.size = s, 0, s.from, s.size
	return s, err
}
