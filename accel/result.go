package accel

import (
	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Result is what [Evaluate] measures. It shows itself: of a classifier, how
// often each class was taken for each.
type Result struct {
	set      string
	loss     float64
	accuracy float64
	examples int
	took     time.Duration
	classes  []string
	counts   [][]int // by class and by answer; nil unless a classifier
	broken   string  // what is not finite first, an example or a tensor of the model, where the loss is not
}

// Loss returns the mean over the examples.
func (r *Result) Loss() float64 { return r.loss }

// Accuracy returns the share of right answers, from 0 to 1, and NaN for regression.
func (r *Result) Accuracy() float64 { return r.accuracy }

// Len returns the number of examples.
func (r *Result) Len() int { return r.examples }

// Seconds returns the time that it took.
func (r *Result) Seconds() float64 { return r.took.Seconds() }

// ConfusionMatrix returns the confusion matrix: Counts()[i][j] is the number of examples of
// class i for which the model's answer was j. It is nil for regression.
func (r *Result) ConfusionMatrix() [][]int {
	var counts [][]int
	for _, row := range r.counts {
		counts = append(counts, append([]int(nil), row...))
	}
	return counts
}

// Figure draws the confusion matrix. It is an empty figure for regression.
func (r *Result) Figure() *plots.Figure {
	return plots.Confusion(r.set, r.classes, r.counts).Subtitle(r.measured())
}

// String returns the result in one line.
func (r *Result) String() string { return r.set + ": " + r.measured() }

func (r *Result) measured() string {
	text := "loss " + number(r.loss)
	if !math.IsNaN(r.accuracy) {
		text += ", accuracy " + percent(r.accuracy)
	}
	if r.broken != "" {
		text += " (" + r.broken + ")"
	}
	return text + fmt.Sprintf(", %s examples, %s", display.Integer(r.examples), seconds(r.took))
}

// maxConfusion is the number of classes up to which their table can be read.
const maxConfusion = 30

// MIMEBundle shows the result: its line, and the confusion matrix of a
// classifier of at most thirty classes.
func (r *Result) MIMEBundle() map[string]any {
	bundle := map[string]any{}
	if r.drawn() {
		bundle = r.Figure().MIMEBundle()
	}
	bundle["text/plain"] = r.String()
	return bundle
}

// MIMEMetadata returns the size of the picture, if there is one.
func (r *Result) MIMEMetadata() map[string]any {
	if r.drawn() {
		return r.Figure().MIMEMetadata()
	}
	return nil
}

func (r *Result) drawn() bool { return len(r.counts) > 1 && len(r.counts) <= maxConfusion }
