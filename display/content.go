package display

import (
	"encoding/json"
	"fmt"
)

// Content is data in one rich format, with a plain text form for front ends
// that cannot show it. Its zero value shows an empty text.
type Content struct {
	mime string
	data any
	text string
}

// MIMEBundle gives the content and its text form.
func (c Content) MIMEBundle() map[string]any {
	bundle := map[string]any{"text/plain": c.text}
	if c.mime != "" {
		bundle[c.mime] = c.data
	}
	return bundle
}

// String is the plain text form.
func (c Content) String() string { return c.text }

// Text shows s as plain text, without quotes.
func Text(s string) Content { return Content{mime: "text/plain", data: s, text: s} }

// HTML shows s as HTML. Front ends strip scripts from notebooks that the
// reader has not trusted.
func HTML(s string) Content { return Content{"text/html", s, s} }

// Markdown shows s as Markdown.
func Markdown(s string) Content { return Content{"text/markdown", s, s} }

// LaTeX shows s as LaTeX; mathematics is written between dollar signs.
func LaTeX(s string) Content { return Content{"text/latex", s, s} }

// SVG shows the SVG document s.
func SVG(s string) Content { return Content{"image/svg+xml", s, "[SVG picture]"} }

// PNG shows an encoded PNG picture.
func PNG(b []byte) Content {
	return Content{"image/png", b, fmt.Sprintf("[PNG picture, %d bytes]", len(b))}
}

// JSON shows v, encoded by encoding/json, as a tree that can be opened and
// closed. A value that cannot be encoded is shown as the error that says why.
func JSON(v any) Content {
	b, err := json.Marshal(v)
	if err != nil {
		return Text(fmt.Sprintf("display: this value has no JSON form: %v", err))
	}
	return Content{"application/json", json.RawMessage(b), string(b)}
}

// VegaLite shows a Vega-Lite version 5 specification: JSON text as a string or
// []byte, or a value that encoding/json turns into one.
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
			return Text(fmt.Sprintf("display: this specification has no JSON form: %v", err))
		}
	}
	if !json.Valid(b) {
		return Text("display: the Vega-Lite specification is not valid JSON")
	}
	return Content{mime, json.RawMessage(b), "[Vega-Lite chart]"}
}
