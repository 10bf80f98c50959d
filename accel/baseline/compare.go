package baseline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/display"
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
	if err := interrupt.RequireContext(ctx, "baseline: Compare"); err != nil {
		return nil, err
	}
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

// Report returns the table.
func (c *Comparison) Report() *display.Report {
	columns, rows := []string{"model"}, make([][]any, len(c.Rows))
	for i, r := range c.Rows {
		rows[i] = []any{r.Name}
		add := func(column, text string) {
			if rows[i] = append(rows[i], text); i == 0 {
				columns = append(columns, column)
			}
		}
		if counts := r.Result.ConfusionMatrix(); counts != nil {
			add("accuracy", fmt.Sprintf("%.1f %%", 100*r.Result.Accuracy()))
		}
		for _, v := range r.Result.Metrics() {
			add(v.Name, fmt.Sprintf("%.4g", v.Value))
		}
		add("fitted in", r.Fitted.Round(time.Millisecond).String())
	}
	out := new(display.Report).Table(columns...)
	for _, row := range rows {
		out.Row(row...)
	}
	return out.Text(fmt.Sprintf("fitted to %s, measured on %s", c.Train, c.Test))
}

// String returns the table as text.
func (c *Comparison) String() string { return c.Report().String() }
