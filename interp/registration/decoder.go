package registration

import (
	"archive/zip"
	"image"
	"io"
	"strconv"
)

// decoders registers compression methods of package zip and formats of package image.
type decoders struct{ names *names }

// registerCompressor is zip.RegisterCompressor.
func (d *decoders) registerCompressor(method uint16, c zip.Compressor) {
	replaceable(d.names, key{kind: "zip compressor", name: strconv.Itoa(int(method))}, c, func(current func() zip.Compressor) {
		zip.RegisterCompressor(method, func(w io.Writer) (io.WriteCloser, error) { return current()(w) })
	})
}

// registerDecompressor is zip.RegisterDecompressor.
func (d *decoders) registerDecompressor(method uint16, v zip.Decompressor) {
	replaceable(d.names, key{kind: "zip decompressor", name: strconv.Itoa(int(method))}, v, func(current func() zip.Decompressor) {
		zip.RegisterDecompressor(method, func(r io.Reader) io.ReadCloser { return current()(r) })
	})
}

// A format decodes images.
type format struct {
	decode func(io.Reader) (image.Image, error)
	config func(io.Reader) (image.Config, error)
}

// registerFormat is image.RegisterFormat, which would always use the first of two formats.
func (d *decoders) registerFormat(name, magic string, decode func(io.Reader) (image.Image, error), config func(io.Reader) (image.Config, error)) {
	replaceable(d.names, key{kind: "image", name: name + "\x00" + magic}, format{decode, config}, func(current func() format) {
		image.RegisterFormat(name, magic, func(r io.Reader) (image.Image, error) { return current().decode(r) },
			func(r io.Reader) (image.Config, error) { return current().config(r) })
	})
}
