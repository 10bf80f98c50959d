package plots

import (
	"encoding/base64"
	"fmt"
	"html"
)

// themeRule has a figure follow the page's theme and not the system's: JupyterLab, Notebook
// and pages that nbconvert exports say on their body which one they have. An SVG in an
// <img> takes its colours after the color-scheme of that.
const themeRule = `<style>[data-jp-theme-light=true] .quern-figure{color-scheme:only light}[data-jp-theme-light=false] .quern-figure{color-scheme:only dark}</style>`

// HTML is the figure for a page: an image that is no wider than the page, follows its
// theme and has the text of [Figure.String] for readers that do not see it.
func (f *Figure) HTML() string {
	width, _ := f.points()
	return fmt.Sprintf(`%s<img class="quern-figure" alt="%s" width="%d" style="max-width:100%%;height:auto" src="data:image/svg+xml;base64,%s">`,
		themeRule, html.EscapeString(f.String()), pixels(width), base64.StdEncoding.EncodeToString([]byte(f.SVG())))
}
