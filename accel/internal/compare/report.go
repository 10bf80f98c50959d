package compare

import (
	"errors"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/display"
)

// FileBytes returns the size of the file that save writes.
func FileBytes(save func(path string) error) (size int, err error) {
	dir, err := os.MkdirTemp("", "quern-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "model.safetensors")
	if err := save(path); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}

// Quality returns the table rows of loss and accuracy, before and after. An accuracy of NaN
// means that it was not measured.
func Quality(loss, accuracy [2]float64) [][]any {
	rows := [][]any{{"loss", fmt.Sprintf("%.4g", loss[0]), fmt.Sprintf("%.4g", loss[1]), fmt.Sprintf("%+.2g", loss[1]-loss[0])}}
	if !math.IsNaN(accuracy[0]) {
		rows = append(rows, []any{"accuracy", fmt.Sprintf("%.2f %%", 100*accuracy[0]), fmt.Sprintf("%.2f %%", 100*accuracy[1]), fmt.Sprintf("%+.2f points", 100*(accuracy[1]-accuracy[0]))})
	}
	return rows
}

// Faster returns a table row with the times before and after, and their ratio.
func Faster(what string, before, after Times) []any {
	median, low, high := before.Ratio(after)
	return []any{what, before.String(), after.String(), fmt.Sprintf("%.2f times as fast (%.2f to %.2f)", median, low, high)}
}

// Shown returns the MIME bundle of a sentence with tables below it.
func Shown(sentence string, tables ...display.Content) map[string]any {
	text, page := []string{sentence}, "<div>"+html.EscapeString(sentence)+"</div>"
	for _, t := range tables {
		b := t.MIMEBundle()
		if plain, ok := b["text/plain"].(string); ok {
			text = append(text, strings.TrimRight(plain, "\n"))
		}
		if rows, ok := b["text/html"].(string); ok {
			page += rows
		}
	}
	return map[string]any{"text/plain": strings.Join(text, "\n\n"), "text/html": page}
}
