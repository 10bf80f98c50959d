// Package picture shows drawings in pages.
package picture

import (
	"encoding/base64"
	"fmt"
	"html"
)

// HTML returns an SVG document as an image of a page, with an alternative text. It is never wider than the page, and
// follows its theme.
func HTML(svg, alt string, width int) string {
	// JupyterLab, Notebook and pages exported by nbconvert name their theme in an attribute of body, which may not be that
	// of the system. An SVG in an <img> uses the color-scheme of that element.
	const theme = `<style>[data-jp-theme-light=true] .quern-figure{color-scheme:only light}[data-jp-theme-light=false] .quern-figure{color-scheme:only dark}</style>`
	return fmt.Sprintf(`%s<img class="quern-figure" alt="%s" width="%d" style="max-width:100%%;height:auto" src="data:image/svg+xml;base64,%s">`,
		theme, html.EscapeString(alt), width, base64.StdEncoding.EncodeToString([]byte(svg)))
}
