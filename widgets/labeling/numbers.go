package labeling

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/quernlab/quern/widgets"
)

// buildNumbers creates the button that stores numbers, and returns a field for each target.
func (p *Panel) buildNumbers(targets []string) []widgets.Widget {
	if len(targets) == 0 {
		return nil
	}
	var column []widgets.Widget
	for _, name := range targets {
		n := widgets.NewText("", widgets.Description(name))
		p.numbers, column = append(p.numbers, n), append(column, n)
	}
	p.store = widgets.NewButton("store", widgets.Width("auto"))
	p.store.OnClick(func() {
		values, err := p.read(targets)
		if err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.open {
				p.text.SetValue(widgets.Escape(p.question + " " + err.Error()))
			}
			return
		}
		p.clicked(answer{targets: values})
	})
	return column
}

// read returns the numbers in the fields.
func (p *Panel) read(targets []string) ([]float32, error) {
	values := make([]float32, len(targets))
	for k, n := range p.numbers {
		text := strings.TrimSpace(n.Value())
		v, err := strconv.ParseFloat(text, 32)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: %q is not a number", targets[k], text)
		}
		values[k] = float32(v)
	}
	return values, nil
}
