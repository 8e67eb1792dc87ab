package proto

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// fileName is what errors of the compiler call the text.
const fileName = "schema.proto"

// Parse compiles the text of a .proto file, which may import google/protobuf/*, and chooses a message of it: by its full name, by its name alone, or, when there is
// but one at the top, by none.
func Parse(protoText []byte, message string) (*Message, error) {
	file, err := compile(string(protoText))
	if err != nil {
		return nil, err
	}
	descriptor, err := find(file, message)
	if err != nil {
		return nil, err
	}
	return newMessage(descriptor), nil
}

func compile(text string) (file linker.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("compiling the .proto text: %v", p)
		}
	}()
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			Accessor: protocompile.SourceAccessorFromMap(map[string]string{fileName: text}),
		}),
		MaxParallelism: 1,
	}
	files, err := compiler.Compile(context.Background(), fileName)
	if err != nil {
		return nil, fmt.Errorf("compiling the .proto text: %w", err)
	}
	return files[0], nil
}

// find looks for a message.
func find(file linker.File, name string) (protoreflect.MessageDescriptor, error) {
	var all []protoreflect.MessageDescriptor
	var collect func(protoreflect.MessageDescriptors, bool)
	collect = func(from protoreflect.MessageDescriptors, nested bool) {
		for i := range from.Len() {
			if m := from.Get(i); !m.IsMapEntry() && (name != "" || !nested) {
				all = append(all, m)
				collect(m.Messages(), true)
			}
		}
	}
	collect(file.Messages(), false)
	var found []protoreflect.MessageDescriptor
	for _, m := range all {
		switch {
		case string(m.FullName()) == strings.TrimPrefix(name, "."):
			return m, nil
		case name == "" || string(m.Name()) == name:
			found = append(found, m)
		}
	}
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = string(m.FullName())
	}
	switch {
	case len(all) == 0:
		return nil, errors.New("choosing a message: the .proto text declares none")
	case len(found) == 1:
		return found[0], nil
	case name == "":
		return nil, fmt.Errorf("choosing a message: name one of %s", strings.Join(names, ", "))
	case len(found) > 1:
		return nil, fmt.Errorf("choosing message %q: it may be several; name one of %s", name, strings.Join(names, ", "))
	default:
		return nil, fmt.Errorf("choosing message %q: there are only %s", name, strings.Join(names, ", "))
	}
}
