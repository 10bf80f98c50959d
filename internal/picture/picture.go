// Package picture shows drawings in pages.
package picture

import (
	"fmt"
	"html"
	"strings"
)

// HTML returns an SVG document as an image of a page, with an alternative text. It is never wider than the page, and
// follows its theme.
func HTML(svg, alt string, width int) string {
	// JupyterLab, Notebook and pages exported by nbconvert name their theme in an attribute of body, which may not be that
	// of the system. An SVG in an <img> uses the color-scheme of that element.
	const theme = `<style>[data-jp-theme-light=true] .quern-figure{color-scheme:only light}[data-jp-theme-light=false] .quern-figure{color-scheme:only dark}</style>`
	return fmt.Sprintf(`%s<img class="quern-figure" alt="%s" width="%d" style="max-width:100%%;height:auto" src='data:image/svg+xml,%s'>`,
		theme, html.EscapeString(alt), width, escaped.Replace(svg))
}

// escaped writes an SVG in a URL within single quotes of HTML, in three quarters of the bytes of base64.
var escaped = strings.NewReplacer("%", "%25", "#", "%23", "'", "%27", "&", "%26", "<", "%3C", ">", "%3E", "\n", "%0A")
