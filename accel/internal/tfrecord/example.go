package tfrecord

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Kind is the type of the values of a feature.
type Kind int

// The types, numbered as the fields of the message Feature; 0 is a feature without values.
const (
	None Kind = iota
	Bytes
	Floats
	Ints
)

// String returns the name of the type in the message Feature.
func (k Kind) String() string {
	return [...]string{"nothing", "bytes_list", "float_list", "int64_list"}[k]
}

// Feature is a list of values of one type.
type Feature struct {
	Kind   Kind
	Bytes  [][]byte
	Floats []float32
	Ints   []int64
}

// Len returns the number of values.
func (f Feature) Len() int { return len(f.Bytes) + len(f.Floats) + len(f.Ints) }

// Parse returns the features of record number n, a message tf.train.Example. Their bytes are those of data.
func Parse(data []byte, n int) (map[string]Feature, error) {
	features := map[string]Feature{}
	err := fields(data, func(number protowire.Number, message []byte) error {
		if number != 1 {
			return fmt.Errorf("a field %d, as of a tf.train.SequenceExample", number)
		}
		return fields(message, func(_ protowire.Number, entry []byte) error {
			name, f := "", Feature{}
			err := fields(entry, func(number protowire.Number, v []byte) error {
				if number == 1 {
					name = string(v)
					return nil
				}
				return f.parse(v)
			})
			features[name] = f
			return err
		})
	})
	if err != nil {
		return nil, &Error{n, "a tf.train.Example", err.Error()}
	}
	return features, nil
}

// parse reads a message Feature, of which the last kind counts.
func (f *Feature) parse(message []byte) error {
	return fields(message, func(number protowire.Number, list []byte) error {
		if number < 1 || number > 3 {
			return fmt.Errorf("a feature with a field %d", number)
		}
		if k := Kind(number); k != f.Kind {
			*f = Feature{Kind: k}
		}
		for len(list) > 0 {
			number, wire, n := protowire.ConsumeTag(list)
			if n < 0 {
				return protowire.ParseError(n)
			}
			list = list[n:]
			if number != 1 {
				return fmt.Errorf("a list with a field %d", number)
			}
			if n = f.value(wire, list); n < 0 {
				return protowire.ParseError(n)
			}
			if n == 0 {
				return fmt.Errorf("a value of wire type %d in a %v", wire, f.Kind)
			}
			list = list[n:]
		}
		return nil
	})
}

// value adds the value that b begins with, or the packed ones. It returns the number of bytes, a negative
// number if they are invalid, and 0 for another type.
func (f *Feature) value(wire protowire.Type, b []byte) int {
	switch {
	case f.Kind == Bytes && wire == protowire.BytesType:
		v, n := protowire.ConsumeBytes(b)
		if n >= 0 {
			f.Bytes = append(f.Bytes, v)
		}
		return n
	case f.Kind == Floats && wire == protowire.Fixed32Type:
		v, n := protowire.ConsumeFixed32(b)
		if n >= 0 {
			f.Floats = append(f.Floats, math.Float32frombits(v))
		}
		return n
	case f.Kind == Ints && wire == protowire.VarintType:
		v, n := protowire.ConsumeVarint(b)
		if n >= 0 {
			f.Ints = append(f.Ints, int64(v))
		}
		return n
	case f.Kind != Bytes && wire == protowire.BytesType:
		packed, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return n
		}
		of := protowire.VarintType
		if f.Kind == Floats {
			of = protowire.Fixed32Type
		}
		for len(packed) > 0 {
			used := f.value(of, packed)
			if used < 0 {
				return used
			}
			packed = packed[used:]
		}
		return n
	}
	return 0
}

var errNoMessage = errors.New("a field that is no message")

// fields calls f with the fields of a message, which are all messages, texts or bytes.
func fields(message []byte, f func(number protowire.Number, v []byte) error) error {
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if wire != protowire.BytesType {
			return errNoMessage
		}
		v, used := protowire.ConsumeBytes(message[n:])
		if used < 0 {
			return protowire.ParseError(used)
		}
		if err := f(number, v); err != nil {
			return err
		}
		message = message[n+used:]
	}
	return nil
}
