package parser

import (
	"errors"
	"fmt"
	"reflect"
)

// Merge returns the user's config, in which defaults fill every field, at any depth, that the user left out. Of maps the user's keys win.
func Merge(user, defaults Config) Config {
	if user.Format.kind() == auto {
		user.Format = Format{}
	}
	merged := reflect.New(reflect.TypeFor[Config]()).Elem()
	merge(merged, reflect.ValueOf(user), reflect.ValueOf(defaults))
	return merged.Interface().(Config)
}

func merge(into, user, defaults reflect.Value) {
	switch into.Kind() {
	case reflect.Struct:
		for i := range into.NumField() {
			merge(into.Field(i), user.Field(i), defaults.Field(i))
		}
	case reflect.Pointer:
		if user.IsNil() || defaults.IsNil() {
			into.Set(orElse(user, defaults))
			return
		}
		into.Set(reflect.New(into.Type().Elem()))
		merge(into.Elem(), user.Elem(), defaults.Elem())
	case reflect.Map:
		if user.Len() == 0 || defaults.Len() == 0 {
			into.Set(orElse(user, defaults))
			return
		}
		into.Set(reflect.MakeMap(into.Type()))
		for _, from := range []reflect.Value{defaults, user} {
			for entries := from.MapRange(); entries.Next(); {
				into.SetMapIndex(entries.Key(), entries.Value())
			}
		}
	default:
		into.Set(orElse(user, defaults))
	}
}

func orElse(user, defaults reflect.Value) reflect.Value {
	if user.IsZero() {
		return defaults
	}
	return user
}

// RefuseReserved tells which fields a user of a connector has set that only the connector may: a document's key depends on them.
func (c *Config) RefuseReserved() error {
	var problems []error
	const remove = "remove it"
	for _, f := range []struct {
		name string
		set  bool
		fix  string
	}{
		{"addRecordOffset", c.AddRecordOffset != "", remove},
		{"addValues", len(c.AddValues) > 0, remove},
		{"filename", c.Filename != "", remove},
		{"projections", len(c.Projections) > 0, "give the stream projections instead"},
		{"schema", len(c.Schema) > 0, "give the stream a schema instead"},
	} {
		if f.set {
			problems = append(problems, fmt.Errorf("parser.%s is given, but the connector sets it: %s", f.name, f.fix))
		}
	}
	return errors.Join(problems...)
}
