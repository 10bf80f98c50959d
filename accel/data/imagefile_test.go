package data

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// chunk returns a chunk of a PNG file.
func chunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// declaredPNG returns a PNG file with a header that declares a size, and without pixels.
func declaredPNG(width, height uint32, depth, kind byte) []byte {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	b := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(header, depth, kind, 0, 0, 0))...)
	return append(append(b, chunk("IDAT", []byte{0x78, 0x9c, 3, 0, 0, 0, 0, 1})...), chunk("IEND", nil)...)
}

// declaredJPEG returns a JPEG file whose header declares another size.
func declaredJPEG(t testing.TB, width, height uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b.Bytes(), []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(b.Bytes()[at+5:], height)
	binary.BigEndian.PutUint16(b.Bytes()[at+7:], width)
	return b.Bytes()
}

// declaredGIF returns a GIF file with a header that declares a size, and without pixels.
func declaredGIF(width, height uint16) []byte {
	b := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16([]byte("GIF89a"), width), height)
	b = append(b, 0x80, 0, 0, 0, 0, 0, 255, 255, 255, 0x2c, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, width), height)
	return append(b, 0, 2, 1, 0, 0, 0x3b)
}

// TestDeclaredSize reads files that declare larger sizes than they have: allocations must be
// proportional to the file.
func TestDeclaredSize(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "class"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{
		"large.png":       declaredPNG(100_000, 100_000, 8, 2),
		"16 bits.png":     declaredPNG(100_000, 100_000, 16, 6),
		"one bit.png":     declaredPNG(30_000, 30_000, 1, 0),
		"wide.png":        declaredPNG(1<<31-1, 1, 8, 2),
		"high.png":        declaredPNG(1, 1<<31-1, 8, 2),
		"overflowing.png": declaredPNG(1<<31-1, 1<<31-1, 8, 2),
		"likely.png":      declaredPNG(10_000, 10_000, 8, 6),
		"nothing.png":     declaredPNG(0, 5, 8, 2),
		"large.jpeg":      declaredJPEG(t, 65_535, 65_535),
		"large.gif":       declaredGIF(65_535, 65_535),
	} {
		path := filepath.Join(folder, "class", name)
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Images(folder, 8, 8)
		runtime.ReadMemStats(&after)
		var format *FormatError
		if !errors.As(err, &format) || format.Path != path {
			t.Errorf("%s: %v", name, err)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8<<20 {
			t.Errorf("%s of %d bytes: %d bytes were allocated", name, len(file), allocated)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// A blank image compresses well and must still be read.
func TestBlankImages(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "class"), 0o700); err != nil {
		t.Fatal(err)
	}
	blank := image.NewPaletted(image.Rect(0, 0, 4000, 3000), color.Palette{color.Black, color.White})
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"a.png": func(b *bytes.Buffer) error {
			return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(b, blank)
		},
		"b.gif": func(b *bytes.Buffer) error { return gif.Encode(b, blank, nil) },
		"c.jpg": func(b *bytes.Buffer) error { return jpeg.Encode(b, blank, &jpeg.Options{Quality: 1}) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "class", name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := Images(folder, 4, 4)
	if err != nil || set.Len() != 3 {
		t.Errorf("%v, %v", set, err)
	}
}

// TestImageFormats decodes the pixels 200 100 50 and 10 20 30 of each format, of which the second is
// transparent: its color is that of the file, as with PIL. webp was written by PIL.
func TestImageFormats(t *testing.T) {
	webp, err := hex.DecodeString("5249464622000000574542505650384c150000002f010000100f700aa82bf89ec263fe831619d1ff0000")
	if err != nil {
		t.Fatal(err)
	}
	first, second := color.NRGBA{200, 100, 50, 255}, color.NRGBA{10, 20, 30, 0}
	bounds := image.Rect(0, 0, 2, 1)
	transparent := image.NewNRGBA(bounds)
	transparent.Set(0, 0, first)
	transparent.Set(1, 0, second)
	solid := image.NewNRGBA(bounds)
	solid.Set(0, 0, first)
	solid.Set(1, 0, color.NRGBA{10, 20, 30, 255})
	palette := image.NewPaletted(bounds, color.Palette{first, second})
	palette.SetColorIndex(1, 0, 1)
	deep := image.NewNRGBA64(bounds)
	deep.SetNRGBA64(0, 0, color.NRGBA64{200 * 257, 100 * 257, 50 * 257, 0xffff})
	deep.SetNRGBA64(1, 0, color.NRGBA64{10 * 257, 20 * 257, 30 * 257, 0})
	for name, encode := range map[string]func(io.Writer) error{
		"a.png":   func(w io.Writer) error { return png.Encode(w, transparent) },
		"b.png":   func(w io.Writer) error { return png.Encode(w, deep) },
		"c.png":   func(w io.Writer) error { return png.Encode(w, palette) },
		"a.tiff":  func(w io.Writer) error { return tiff.Encode(w, transparent, nil) },
		"a.tif":   func(w io.Writer) error { return tiff.Encode(w, solid, &tiff.Options{Compression: tiff.Deflate}) },
		"a.bmp":   func(w io.Writer) error { return bmp.Encode(w, solid) },
		"a.webp":  func(w io.Writer) error { _, err := w.Write(webp); return err },
		"x/a.PNG": func(w io.Writer) error { return png.Encode(w, solid) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "class", name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := encode(&b); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			set, err := Images(folder, 1, 2)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []float32{200, 10, 100, 20, 50, 30} {
				if got := set.Example(0)[i] * 255; math.Abs(float64(got-want)) > 0.5 {
					t.Fatalf("%v", set.Example(0))
				}
			}
		})
	}
}

// Images must not block on a file that is not regular, such as a pipe.
func TestImageThatIsNoFile(t *testing.T) {
	if _, _, err := decodeImageFile(os.DevNull, 8, 8); err == nil {
		t.Error("no error")
	}
}

// FuzzDecodeImage checks that the decoded size is proportional to the file.
func FuzzDecodeImage(f *testing.F) {
	f.Add(declaredPNG(100_000, 100_000, 8, 2))
	f.Add(declaredPNG(2, 2, 8, 2))
	f.Add(declaredJPEG(f, 8, 8))
	f.Add(declaredJPEG(f, 65_535, 65_535))
	f.Add(declaredGIF(65_535, 65_535))
	for _, encode := range []func(io.Writer, image.Image) error{bmp.Encode, func(w io.Writer, m image.Image) error { return tiff.Encode(w, m, nil) }} {
		var b bytes.Buffer
		if err := encode(&b, image.NewRGBA(image.Rect(0, 0, 3, 2))); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add(declaredGIF(2, 2))
	var small bytes.Buffer
	if err := png.Encode(&small, image.NewRGBA(image.Rect(0, 0, 3, 2))); err != nil {
		f.Fatal(err)
	}
	f.Add(small.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := decodeImage(bytes.NewReader(in), int64(len(in)))
		if err != nil {
			return
		}
		if size := m.Bounds().Size(); int64(size.X)*int64(size.Y) > int64(len(in))*pixelsPerByte {
			t.Errorf("%v of %d bytes", size, len(in))
		}
		if planes, _ := resample(m, 2, 3); len(planes) != 18 {
			t.Errorf("%d bytes", len(planes))
		}
	})
}
