package display

import (
	"encoding/json"
	"fmt"
)

// Content is data in one rich format, with a plain text form for front ends that do not support
// the format. The zero value is an empty text.
type Content struct {
	mime string
	data any
	text string
}

// MIMEBundle returns the content and its text form.
func (c Content) MIMEBundle() map[string]any {
	bundle := map[string]any{"text/plain": c.text}
	if c.mime != "" {
		bundle[c.mime] = c.data
	}
	return bundle
}

// String returns the plain text form.
func (c Content) String() string { return c.text }

// Text displays s as plain text, without quotes.
func Text(s string) Content { return Content{mime: "text/plain", data: s, text: s} }

// HTML displays s as HTML. Front ends remove scripts from notebooks that the reader has not
// trusted.
func HTML(s string) Content { return Content{"text/html", s, s} }

// Markdown displays s as Markdown.
func Markdown(s string) Content { return Content{"text/markdown", s, s} }

// LaTeX displays s as LaTeX; mathematics is written between dollar signs.
func LaTeX(s string) Content { return Content{"text/latex", s, s} }

// SVG displays the SVG document s.
func SVG(s string) Content { return Content{"image/svg+xml", s, "[SVG image]"} }

// PNG displays an encoded PNG image.
func PNG(b []byte) Content {
	return Content{"image/png", b, fmt.Sprintf("[PNG image, %d bytes]", len(b))}
}

// JSON displays v, encoded by encoding/json, as a collapsible tree. If v cannot be encoded, it
// displays the error.
func JSON(v any) Content {
	b, err := json.Marshal(v)
	if err != nil {
		return Text(fmt.Sprintf("display: cannot encode this value as JSON: %v", err))
	}
	return Content{"application/json", json.RawMessage(b), string(b)}
}

// VegaLite displays a Vega-Lite version 5 specification: JSON text as a string or []byte, or a
// value that encoding/json encodes as one.
func VegaLite(spec any) Content {
	const mime = "application/vnd.vegalite.v5+json"
	var b []byte
	switch s := spec.(type) {
	case string:
		b = []byte(s)
	case []byte:
		b = s
	default:
		var err error
		if b, err = json.Marshal(spec); err != nil {
			return Text(fmt.Sprintf("display: cannot encode this specification as JSON: %v", err))
		}
	}
	if !json.Valid(b) {
		return Text("display: the Vega-Lite specification is not valid JSON")
	}
	return Content{mime, json.RawMessage(b), "[Vega-Lite chart]"}
}
