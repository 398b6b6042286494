package peer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// errBody is a body that does not hold the value that it should.
var errBody = errors.New("the body of the datagram is not what its kind says")

// pack appends the value: booleans as a byte, numbers as varints, what has a
// length with its length, structs and arrays as their parts in order.
func pack[T any](dst []byte, v T) []byte { return packValue(dst, reflect.ValueOf(&v).Elem()) }

func packValue(dst []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(dst, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return binary.AppendUvarint(dst, v.Uint())
	case reflect.String:
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		return append(dst, v.String()...)
	case reflect.Array:
		for i := range v.Len() {
			dst = packValue(dst, v.Index(i))
		}
		return dst
	case reflect.Slice:
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(dst, v.Bytes()...)
		}
		for i := range v.Len() {
			dst = packValue(dst, v.Index(i))
		}
		return dst
	case reflect.Struct:
		for i := range v.NumField() {
			dst = packValue(dst, v.Field(i))
		}
		return dst
	case reflect.Map:
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return bytes.Compare([]byte(a.String()), []byte(b.String())) })
		for _, k := range keys {
			dst = packValue(packValue(dst, k), v.MapIndex(k))
		}
		return dst
	}
	panic(fmt.Sprintf("peer: a %s cannot be sent", v.Type())) // a type of this package: see TestEveryTypeTravels
}

// unpack reads exactly one value from all of src. What pack would not have
// written is an error, so that a value has one form.
func unpack[T any](src []byte) (T, error) {
	var v, none T
	rest, ok := unpackValue(src, reflect.ValueOf(&v).Elem())
	if !ok || len(rest) > 0 || !bytes.Equal(pack(nil, v), src) {
		return none, errBody
	}
	return v, nil
}

// unpackValue fills v and returns what is left. Memory grows only with what
// was read.
func unpackValue(src []byte, v reflect.Value) (rest []byte, ok bool) {
	switch v.Kind() {
	case reflect.Bool:
		if len(src) == 0 || src[0] > 1 {
			return nil, false
		}
		v.SetBool(src[0] == 1)
		return src[1:], true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, n := binary.Varint(src)
		if n <= 0 || v.OverflowInt(x) {
			return nil, false
		}
		v.SetInt(x)
		return src[n:], true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		x, n := binary.Uvarint(src)
		if n <= 0 || v.OverflowUint(x) {
			return nil, false
		}
		v.SetUint(x)
		return src[n:], true
	case reflect.Array:
		return unpackParts(src, v.Len(), v.Index)
	case reflect.Struct:
		return unpackParts(src, v.NumField(), v.Field)
	}
	size, n := binary.Uvarint(src)
	if n <= 0 || size > uint64(len(src)-n) {
		return nil, false
	}
	return unpackSized(src[n:], int(size), v)
}

func unpackParts(src []byte, n int, part func(int) reflect.Value) (rest []byte, ok bool) {
	for i := range n {
		if src, ok = unpackValue(src, part(i)); !ok {
			return nil, false
		}
	}
	return src, true
}

// unpackSized reads what has a length; no part of it is smaller than a byte.
func unpackSized(src []byte, size int, v reflect.Value) (rest []byte, ok bool) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(string(src[:size]))
		return src[size:], true
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(bytes.Clone(src[:size]))
			return src[size:], true
		}
		for range size {
			e := reflect.New(v.Type().Elem()).Elem()
			if src, ok = unpackValue(src, e); !ok {
				return nil, false
			}
			v.Set(reflect.Append(v, e))
		}
		return src, true
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		for range size {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			if src, ok = unpackValue(src, k); !ok {
				return nil, false
			}
			if src, ok = unpackValue(src, e); !ok {
				return nil, false
			}
			m.SetMapIndex(k, e)
		}
		v.Set(m)
		return src, true
	}
	return nil, false
}

// layout describes what pack writes of a type, so that two builds can tell
// whether they mean the same.
func layout(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		s := "{"
		for i := range t.NumField() {
			s += t.Field(i).Name + " " + layout(t.Field(i).Type) + ";"
		}
		return s + "}"
	case reflect.Slice:
		return "[]" + layout(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), layout(t.Elem()))
	case reflect.Map:
		return "map " + layout(t.Key()) + " " + layout(t.Elem())
	}
	return t.Kind().String()
}
