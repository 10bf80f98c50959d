// Package sealed gives JSON objects in files a checksum, as their last field, so that damage is found.
//
// The checksum is CRC-32C of the object without that field. In a file of lines it goes on from the
// line before, so that a line that is missing is found, too.
package sealed

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

const (
	field  = `,"crc32c":"`
	digits = 8
	length = len(field) + digits + len(`"}`)
)

// ErrDamaged is the error of an object that does not fit its checksum.
var ErrDamaged = errors.New("the file was damaged after it was written, or edited: use a backup")

var table = crc32.MakeTable(crc32.Castagnoli)

// Sum is the checksum of the lines so far. The zero value is that of none.
type Sum uint32

// Seal returns a JSON object, which must have a field, with its checksum.
func (s *Sum) Seal(object []byte) []byte {
	*s = Sum(crc32.Update(uint32(*s), table, object))
	return fmt.Appendf(bytes.Clone(object[:len(object)-1]), `%s%0*x"}`, field, digits, uint32(*s))
}

// Open returns an object without its checksum, or [ErrDamaged].
func (s *Sum) Open(text []byte) (object []byte, err error) {
	at := len(text) - length
	if at < 0 || !bytes.HasPrefix(text[at:], []byte(field)) || !bytes.HasSuffix(text, []byte(`"}`)) {
		return nil, fmt.Errorf("there is no checksum: %w", ErrDamaged)
	}
	want := string(text[at+len(field):][:digits])
	object = append(bytes.Clone(text[:at]), '}')
	*s = Sum(crc32.Update(uint32(*s), table, object))
	if got := fmt.Sprintf("%0*x", digits, uint32(*s)); got != want {
		return nil, fmt.Errorf("the checksum is %s, but the file says %s: %w", got, strconv.Quote(want), ErrDamaged)
	}
	return object, nil
}

// Lines returns the objects of the complete lines of a file, and how many bytes these lines have. After them the file may have the
// beginning of a line whose writing was interrupted. The error is [ErrDamaged] otherwise.
func (s *Sum) Lines(file []byte) (objects [][]byte, size int, err error) {
	size = bytes.LastIndexByte(file, '\n') + 1
	for line := range bytes.Lines(file[:size]) {
		object, err := s.Open(line[:len(line)-1])
		if err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", len(objects)+1, err)
		}
		objects = append(objects, object)
	}
	return objects, size, Rest(file[size:])
}

// Rest checks what follows the last line end of a file of lines: the beginning of a line whose writing
// was interrupted, or [ErrDamaged] for a whole line with something else than a line end.
func Rest(text []byte) error {
	for at := range text {
		if rest := text[at:]; len(rest) > length && bytes.HasPrefix(rest, []byte(field)) && string(rest[length-2:length]) == `"}` {
			return fmt.Errorf("the last line has no end: %w", ErrDamaged)
		}
	}
	return nil
}
