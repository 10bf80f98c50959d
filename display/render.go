package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"reflect"
	"slices"
)

// Render returns the MIME bundle of any value: that of a Displayer or of the report of a Reporter, a PNG for an image.Image, a
// string as it is, and the text of Format for everything else; a list or a map of structs is also a table in HTML, as Table makes it,
// unless they have a text of their own. If a Displayer panics, or its
// bundle cannot be encoded as JSON, Render returns a text with the reason, because displaying a
// value must never end the program.
func Render(v any) (data, metadata map[string]any) {
	defer func() {
		if r := recover(); r != nil {
			text := fmt.Sprintf("%T cannot be shown: %v", v, r)
			if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
				text = "<nil>" // as package fmt prints it
			}
			data, metadata = map[string]any{"text/plain": text}, nil
		}
	}()
	shown := v
	if r, ok := v.(Reporter); ok {
		shown = r.Report()
	}
	switch v := shown.(type) {
	case Displayer:
		var why string
		if data, why = encodable(v.MIMEBundle()); data == nil {
			data = map[string]any{}
		}
		if m, ok := v.(MetadataDisplayer); ok {
			metadata, _ = encodable(m.MIMEMetadata())
		}
		if why != "" {
			data["text/plain"] = why
		}
		switch text := data["text/plain"].(type) {
		case string:
		case nil:
			data["text/plain"] = fmt.Sprintf("%T", v)
		default:
			data["text/plain"] = Format(text)
		}
		return data, metadata
	case image.Image:
		return renderImage(v)
	case string:
		return map[string]any{"text/plain": v}, nil
	}
	data = map[string]any{"text/plain": Format(v)}
	if html := structs(nodeOf(v)); html != "" {
		data["text/html"] = html
	}
	return data, nil
}

// structs returns a list or a map of structs, or of pointers to them, as a table; "" if n is none, or if the list or its
// elements have a text of their own.
func structs(n node) string {
	var first node
	switch k := n.kind(); {
	case k != reflect.Slice && k != reflect.Array && k != reflect.Map, n.hasText(), n.value.Len() == 0:
		return ""
	case k == reflect.Map:
		first = n.entries()[0].value
	default:
		first = n.index(0)
	}
	element := n.typ().Elem()
	if element.Kind() == reflect.Pointer {
		element = element.Elem()
	}
	if rich(first.shown) || element.Kind() != reflect.Struct || first.hasText() || n.kind() != reflect.Map && len(visibleFields(element)) == 0 {
		return ""
	}
	t, err := newTable(n, nil)
	if err != nil {
		return ""
	}
	return t.html()
}

// encodable returns a copy of a bundle without the entries that cannot be encoded as JSON, and
// the reason.
func encodable(bundle map[string]any) (data map[string]any, why string) {
	data = maps.Clone(bundle)
	for _, mime := range slices.Sorted(maps.Keys(bundle)) {
		switch bundle[mime].(type) {
		case string, []byte:
			continue
		}
		if _, err := json.Marshal(bundle[mime]); err != nil {
			delete(data, mime)
			why = fmt.Sprintf("%s cannot be shown: %v", mime, err)
		}
	}
	return data, why
}

// maxImageSide is the largest side of an image that is encoded; larger images are only
// described.
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
