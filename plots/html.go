package plots

import (
	"encoding/base64"
	"fmt"
	"html"
)

// themeRule makes a figure follow the theme of the page instead of that of the system.
// JupyterLab, Notebook and pages exported by nbconvert name their theme in an attribute of
// body. An SVG in an <img> uses the color-scheme of that element.
const themeRule = `<style>[data-jp-theme-light=true] .quern-figure{color-scheme:only light}[data-jp-theme-light=false] .quern-figure{color-scheme:only dark}</style>`

// HTML returns the figure as an image for a web page. The image is never wider than the page,
// follows its theme, and has the text of [Figure.String] as its alternative text.
func (f *Figure) HTML() string {
	width, _ := f.points()
	return fmt.Sprintf(`%s<img class="quern-figure" alt="%s" width="%d" style="max-width:100%%;height:auto" src="data:image/svg+xml;base64,%s">`,
		themeRule, html.EscapeString(f.String()), pixels(width), base64.StdEncoding.EncodeToString([]byte(f.SVG())))
}
