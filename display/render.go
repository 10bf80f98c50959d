package display

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
)

// Render gives the MIME bundle of any value: that of a Displayer, a PNG for an
// image.Image, a string as it is, and the text of Format for everything else. A
// Displayer that panics yields the text of its panic, since showing a value
// must never end the program that holds it.
func Render(v any) (data, metadata map[string]any) {
	defer func() {
		if r := recover(); r != nil {
			data = map[string]any{"text/plain": fmt.Sprintf("%T cannot be shown: %v", v, r)}
			metadata = nil
		}
	}()
	switch v := v.(type) {
	case Displayer:
		data = v.MIMEBundle()
		if m, ok := v.(MetadataDisplayer); ok {
			metadata = m.MIMEMetadata()
		}
		if data == nil {
			data = map[string]any{}
		}
		if _, ok := data["text/plain"]; !ok {
			data["text/plain"] = fmt.Sprintf("%T", v)
		}
		return data, metadata
	case image.Image:
		return renderImage(v)
	}
	if s, ok := v.(string); ok {
		return map[string]any{"text/plain": s}, nil
	}
	return map[string]any{"text/plain": Format(v)}, nil
}

// maxImageSide bounds what a picture may cost; larger ones are described.
const maxImageSide = 8192

func renderImage(m image.Image) (data, metadata map[string]any) {
	size := m.Bounds().Size()
	text := fmt.Sprintf("%T %d×%d", m, size.X, size.Y)
	data = map[string]any{"text/plain": text}
	if size.X <= 0 || size.Y <= 0 || size.X > maxImageSide || size.Y > maxImageSide {
		return data, nil
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		data["text/plain"] = fmt.Sprintf("%s cannot be encoded: %v", text, err)
		return data, nil
	}
	data["image/png"] = b.Bytes()
	return data, map[string]any{"image/png": map[string]any{"width": size.X, "height": size.Y}}
}
