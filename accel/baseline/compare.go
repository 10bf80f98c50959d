package baseline

import (
	"context"
	"errors"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/interrupt"
	"github.com/quernlab/quern/accel/internal/table"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
)

// Comparison is what [Compare] measured. It displays itself as a table.
type Comparison struct {
	Train, Test string // names of the data sets
	Rows        []Row  // in the order of the models in the call
}

// Row is one method.
type Row struct {
	Name   string        // of the model
	Model  nn.Module     // the fitted model
	Result *accel.Result // on the test set
	Fitted time.Duration // time of Fit
}

// Compare fits each method to train and measures its model on test: accuracy and macro F1 of
// classifiers, R² and mean absolute error for targets. Without methods it compares [Majority],
// [Linear] and [Neighbors] of 5. After an error it returns the rows so far with it.
func Compare(ctx context.Context, train, test *data.Dataset, methods ...Method) (c *Comparison, err error) {
	defer interrupt.Catch(&err) // a method was interrupted
	switch {
	case train == nil || test == nil:
		return nil, errors.New("baseline: Compare: a data set is nil: check the error returned where it was created")
	case train.Len() == 0:
		return nil, fmt.Errorf("baseline: Compare: %s is empty", train.Name())
	}
	test, err = test.Like(train)
	if err != nil {
		return nil, fmt.Errorf("baseline: Compare: %w", err)
	}
	if len(methods) == 0 {
		methods = []Method{Majority(), Linear(), Neighbors(min(5, train.Len()))}
	}
	measure := accel.Metrics(metrics.F1(metrics.Macro))
	if train.Targets() > 0 {
		measure = accel.Metrics(metrics.R2(), metrics.MAE())
	}
	c = &Comparison{Train: train.Name(), Test: test.Name()}
	for _, m := range methods {
		begin := time.Now()
		model, err := m.Fit(ctx, train)
		if err != nil {
			return c, fmt.Errorf("baseline: %v: %w", m, err)
		}
		fitted := time.Since(begin)
		result, err := accel.Evaluate(ctx, model, test, measure)
		if err != nil {
			return c, fmt.Errorf("baseline: %v: %w", m, err)
		}
		c.Rows = append(c.Rows, Row{Name: m.String(), Model: model, Result: result, Fitted: fitted})
	}
	return c, nil
}

// Row returns the row of a method by its name, or nil.
func (c *Comparison) Row(name string) *Row {
	for i := range c.Rows {
		if c.Rows[i].Name == name {
			return &c.Rows[i]
		}
	}
	return nil
}

// cells returns the table with its headings.
func (c *Comparison) cells() [][]string {
	rows := [][]string{{"model"}}
	for i, r := range c.Rows {
		row := []string{r.Name}
		if counts := r.Result.ConfusionMatrix(); counts != nil {
			if i == 0 {
				rows[0] = append(rows[0], "accuracy")
			}
			row = append(row, fmt.Sprintf("%.1f %%", 100*r.Result.Accuracy()))
		}
		for _, v := range r.Result.Metrics() {
			if i == 0 {
				rows[0] = append(rows[0], v.Name)
			}
			row = append(row, fmt.Sprintf("%.4g", v.Value))
		}
		if i == 0 {
			rows[0] = append(rows[0], "fitted in")
		}
		rows = append(rows, append(row, r.Fitted.Round(time.Millisecond).String()))
	}
	return rows
}

func (c *Comparison) title() string {
	return fmt.Sprintf("fitted to %s, measured on %s", c.Train, c.Test)
}

// String returns the table as text.
func (c *Comparison) String() string {
	return strings.TrimRight(table.Text(c.cells())+c.title(), "\n")
}

// MIMEBundle returns the table as HTML and text.
func (c *Comparison) MIMEBundle() map[string]any {
	page := table.HTML(c.cells(), func(column int) bool { return column > 0 })
	return map[string]any{"text/plain": c.String(), "text/html": page + "<div>" + html.EscapeString(c.title()) + "</div>"}
}
