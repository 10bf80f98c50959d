package main

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The identifiers of the sections that this program reads or writes.
const (
	sectionCustom   = 0
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionTable    = 4
	sectionMemory   = 5
	sectionGlobal   = 6
	sectionExport   = 7
	sectionElement  = 9
	sectionCode     = 10
	sectionData     = 11
)

const magic = "\x00asm\x01\x00\x00\x00"

// A module is a WebAssembly module whose functions can be replaced. The contents of sections share the memory of the
// file that it was read from.
type module struct {
	sections []section
	bodies   [][]byte // of the functions that are not imported; the section of the code is empty
}

type section struct {
	id      byte
	content []byte
}

// readModule reads a module as Go's linker writes it.
func readModule(file []byte) (*module, error) {
	if len(file) < len(magic) || string(file[:len(magic)]) != magic {
		return nil, errors.New("not a WebAssembly module")
	}
	m := &module{}
	r := reader{file[len(magic):]}
	for len(r.rest) > 0 {
		s := section{id: r.byte()}
		s.content = r.bytes(r.length())
		if s.id == sectionCode {
			code := reader{s.content}
			for range code.length() {
				m.bodies = append(m.bodies, code.bytes(code.length()))
			}
			s.content = nil
		}
		m.sections = append(m.sections, s)
	}
	return m, nil
}

// write returns the module as a file.
func (m *module) write() []byte {
	file := []byte(magic)
	for _, s := range m.sections {
		content := s.content
		if s.id == sectionCustom && (&reader{content}).name() == hintSection {
			continue // of other functions
		}
		if s.id == sectionCode {
			if list := hints(m.section(sectionImport), m.bodies); list != nil {
				file = vector(append(file, sectionCustom), list)
			}
			content = unsigned(nil, uint64(len(m.bodies)))
			for _, body := range m.bodies {
				content = vector(content, body)
			}
		}
		file = append(file, s.id)
		file = vector(file, content)
	}
	return file
}

// section returns the content of the first section with an identifier, or nothing.
func (m *module) section(id byte) []byte {
	for _, s := range m.sections {
		if s.id == id {
			return s.content
		}
	}
	return nil
}

// set replaces the content of a section that the module has.
func (m *module) set(id byte, content []byte) {
	for i := range m.sections {
		if m.sections[i].id == id {
			m.sections[i].content = content
			return
		}
	}
	panic(fmt.Sprintf("the module has no section %d", id))
}

// unsigned appends a number in LEB128.
func unsigned(to []byte, value uint64) []byte {
	return binary.AppendUvarint(to, value)
}

// signed appends a signed number in LEB128.
func signed(to []byte, value int64) []byte {
	for {
		low := byte(value & 0x7f)
		value >>= 7
		if value == 0 && low&0x40 == 0 || value == -1 && low&0x40 != 0 {
			return append(to, low)
		}
		to = append(to, low|0x80)
	}
}

// vector appends bytes after their number.
func vector(to, content []byte) []byte {
	return append(unsigned(to, uint64(len(content))), content...)
}

// A reader takes values from the start of bytes. Go's linker writes the files, so one that ends too early is a bug of this
// program, and the reader panics.
type reader struct{ rest []byte }

func (r *reader) byte() byte {
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) bytes(n int) []byte {
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) unsigned() uint64 {
	value, n := binary.Uvarint(r.rest)
	r.rest = r.rest[n:]
	return value
}

func (r *reader) length() int { return int(r.unsigned()) }

func (r *reader) signed() int64 {
	var value int64
	for shift := 0; ; shift += 7 {
		b := r.byte()
		value |= int64(b&0x7f) << shift
		if b < 0x80 {
			if shift < 57 && b&0x40 != 0 {
				value |= -1 << (shift + 7)
			}
			return value
		}
	}
}

func (r *reader) name() string { return string(r.bytes(r.length())) }
