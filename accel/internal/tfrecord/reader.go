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

// Reader reads records one after the other.
type Reader struct {
	r          io.Reader
	compressed bool
	count      int
}

// NewReader returns a reader of the records of r, which may be compressed with gzip.
func NewReader(r io.Reader) (*Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !isCompressed(head) {
		return &Reader{r: b}, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, damaged(err, 1)
	}
	return &Reader{r: z, compressed: true}, nil
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

// damaged returns the error of reading record number n, as an Error if the content of the file is the cause.
func damaged(err error, n int) error {
	if errors.As(err, new(*fs.PathError)) {
		return err
	}
	return &Error{n, "a whole file", fmt.Sprintf("one that is damaged or truncated (%v)", err)}
}

// Count returns the number of records read so far.
func (r *Reader) Count() int { return r.count }

// Next returns the data of the next record, and io.EOF behind the last one.
func (r *Reader) Next() ([]byte, error) {
	n := r.count + 1
	var head [headSize]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, r.failed(err, n)
	}
	size, err := length(head[:], n)
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer // grows, since the length may be wrong
	if got, err := io.CopyN(&data, r.r, size+tailSize); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &Error{n, fmt.Sprintf("%d bytes and a checksum", size), fmt.Sprintf("%d bytes: the file is truncated", got)}
		}
		return nil, r.failed(err, n)
	}
	b := data.Bytes()
	r.count = n
	return b[:size:size], check(b[:size], b[size:], n)
}

func (r *Reader) failed(err error, n int) error {
	if r.compressed || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged(err, n)
	}
	return err
}

// Place is where the data of a record are in a file.
type Place struct {
	At   int64 // offset of the data
	Size int64 // in bytes
}

// Index returns the places of the records of an uncompressed file of a size. It reads only the lengths.
func Index(r io.ReaderAt, size int64) ([]Place, error) {
	var places []Place
	for at := int64(0); at < size; {
		n := len(places) + 1
		var head [headSize]byte
		if size-at < headSize+tailSize {
			return nil, &Error{n, "a length and two checksums", fmt.Sprintf("%d bytes: the file is truncated", size-at)}
		}
		if _, err := r.ReadAt(head[:], at); err != nil {
			return nil, err
		}
		bytes, err := length(head[:], n)
		if err != nil {
			return nil, err
		}
		if left := size - at - headSize - tailSize; bytes > left {
			return nil, &Error{n, fmt.Sprintf("%d bytes", bytes), fmt.Sprintf("%d: the file is truncated", left)}
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
