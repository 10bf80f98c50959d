package tfrecord

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
)

// Error says that a record is not what the format demands.
type Error struct {
	Record int    // from 1; 0 if it is not about one
	Want   string // what was expected
	Got    string // what was found
}

// Error says which record is invalid, and what was expected and found.
func (e *Error) Error() string {
	return fmt.Sprintf("TFRecord, record %d: want %s, got %s", e.Record, e.Want, e.Got)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MaskedCRC is CRC-32C rotated by 15 bits and shifted, as TensorFlow stores it.
func MaskedCRC(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// The bytes around the data of a record.
const (
	headSize = 12 // a length and its checksum
	tailSize = 4  // the checksum of the data
)

// length returns the length of record number n, after its checksum has been compared.
func length(head []byte, n int) (int64, error) {
	if want, got := binary.LittleEndian.Uint32(head[8:]), MaskedCRC(head[:8]); want != got {
		return 0, &Error{n, fmt.Sprintf("the checksum %08x of the length", want), fmt.Sprintf("%08x: is it a TFRecord file, uncompressed or compressed with gzip, and undamaged?", got)}
	}
	size := binary.LittleEndian.Uint64(head)
	if size > math.MaxInt64-headSize-tailSize {
		return 0, &Error{n, "a length below 2^63", fmt.Sprint(size)}
	}
	return int64(size), nil
}

// check compares the checksum of the data of record number n.
func check(data, tail []byte, n int) error {
	if want, got := binary.LittleEndian.Uint32(tail), MaskedCRC(data); want != got {
		return &Error{n, fmt.Sprintf("the checksum %08x of %d bytes", want, len(data)), fmt.Sprintf("%08x: the file is damaged", got)}
	}
	return nil
}

// Content returns all of r, which may be compressed with gzip, uncompressed.
func Content(r io.Reader) ([]byte, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !isCompressed(head) {
		return io.ReadAll(b)
	}
	var content []byte
	z, err := gzip.NewReader(b)
	if err == nil {
		content, err = io.ReadAll(z)
	}
	if err == nil || errors.As(err, new(*fs.PathError)) {
		return content, err
	}
	places, _ := Index(bytes.NewReader(content), int64(len(content))) // those before the damage
	return nil, &Error{len(places) + 1, "a whole file", fmt.Sprintf("one that is damaged or truncated (%v)", err)}
}

// isCompressed reports whether a file begins like one of gzip, and not with the length of a record, which may
// have the same bytes.
func isCompressed(head []byte) bool {
	if !bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return false
	}
	if len(head) < headSize {
		return true
	}
	_, err := length(head, 1)
	return err != nil
}

// Place is where the data of a record are in a file.
type Place struct {
	At   int64 // offset of the data
	Size int64 // in bytes
}

// Index returns the places of the records of an uncompressed file of a size. It reads only the lengths. With an error it returns
// the places before it.
func Index(r io.ReaderAt, size int64) ([]Place, error) {
	var places []Place
	for at := int64(0); at < size; {
		n := len(places) + 1
		var head [headSize]byte
		if size-at < headSize+tailSize {
			return places, &Error{n, "a length and two checksums", fmt.Sprintf("%d bytes: the file is truncated", size-at)}
		}
		if _, err := r.ReadAt(head[:], at); err != nil {
			return places, err
		}
		bytes, err := length(head[:], n)
		if err != nil {
			return places, err
		}
		if left := size - at - headSize - tailSize; bytes > left {
			return places, &Error{n, fmt.Sprintf("%d bytes", bytes), fmt.Sprintf("%d: the file is truncated", left)}
		}
		places = append(places, Place{at + headSize, bytes})
		at += headSize + bytes + tailSize
	}
	return places, nil
}

// Compressed reports whether a file is compressed with gzip.
func Compressed(r io.ReaderAt) (bool, error) {
	var head [headSize]byte
	n, err := r.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return isCompressed(head[:n]), nil
}

// Read returns the data of record number n at a place of Index.
func Read(r io.ReaderAt, p Place, n int) ([]byte, error) {
	b := make([]byte, p.Size+tailSize)
	if _, err := r.ReadAt(b, p.At); err != nil {
		return nil, err
	}
	return b[:p.Size:p.Size], check(b[:p.Size], b[p.Size:], n)
}
