package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/quernlab/quern/accel/internal/benchfile"
	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/library"
)

// librariesOff is the setting for our own kernels alone, which another variable sets.
const librariesOff = "libraries=off"

// variableOf returns the environment of a setting.
func variableOf(setting string) string {
	if setting == librariesOff {
		return library.Variable + "=none"
	}
	return cuda.VariantsVariable + "=" + setting
}

// measureVariants measures each setting beside the default, and stores all after each.
func (o options) measureVariants(ctx context.Context, c benchCase) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := c.arrays(newGenerator()).write(filepath.Join(folder, c.name)); err != nil {
		return err
	}
	m := &measurement{options: o, folder: folder}
	usual := &runner{process: &process{options: o, framework: "quern"}, benchCase: c}
	defer usual.close()
	usualLosses, err := m.prepareOne(ctx, usual)
	if err != nil {
		return err
	}
	var all []benchfile.Variant
	for _, setting := range o.variants {
		if err := ctx.Err(); err != nil {
			return err
		}
		v, err := m.measureVariant(ctx, usual, usualLosses, setting)
		if missing := (*missingError)(nil); errors.As(err, &missing) {
			v.NotMeasured = missing.reason
		} else if err != nil {
			v.Error = err.Error()
		}
		printVariant(v)
		all = append(all, v)
		if err := o.saveVariants(all); err != nil {
			return err
		}
	}
	return nil
}

// prepareOne prepares a runner and returns its first losses.
func (m *measurement) prepareOne(ctx context.Context, r *runner) ([]float64, error) {
	r.steps = 1
	a, err := m.prepareRunner(ctx, r)
	return a.Losses, err
}

// measureVariant measures one setting.
func (m *measurement) measureVariant(ctx context.Context, usual *runner, usualLosses []float64, setting string) (v benchfile.Variant, err error) {
	v = benchfile.Variant{Case: usual.name, Setting: setting}
	other := &runner{process: &process{options: m.options, framework: "quern", variables: []string{variableOf(setting)}}, benchCase: usual.benchCase}
	defer other.close()
	losses, err := m.prepareOne(ctx, other)
	if err != nil {
		return v, err
	}
	if len(losses) != len(usualLosses) {
		return v, fmt.Errorf("%d losses, the default has %d", len(losses), len(usualLosses))
	}
	for i, l := range losses {
		d := math.Abs(l-usualLosses[i]) / max(math.Abs(usualLosses[i]), 1e-6)
		allowed := laterTolerance
		if i == 0 {
			allowed = firstToleranceHalf
		}
		if !(d <= allowed) {
			return v, fmt.Errorf("the loss of step %d is %g, without the setting %g", i+1, l, usualLosses[i])
		}
		v.LossDifference = max(v.LossDifference, d)
	}
	for round := range m.options.rounds + 1 { // the first round determines the number of steps
		for _, r := range []*runner{usual, other} {
			a, err := r.ask(ctx, request{Do: "run", Steps: r.steps})
			if err != nil {
				return v, err
			}
			each := a.Seconds / float64(r.steps)
			switch {
			case round == 0:
				r.steps = max(1, int(math.Round(m.slice/max(each, 1e-9))))
			case r == usual:
				v.DefaultTimes = append(v.DefaultTimes, each)
			default:
				v.Times = append(v.Times, each)
			}
			time.Sleep(pause)
		}
	}
	var ratios []float64
	for i, each := range v.Times {
		ratios = append(ratios, each/v.DefaultTimes[i])
	}
	v.Default, v.Seconds, v.Ratio = newTimes(v.DefaultTimes).Median, newTimes(v.Times).Median, newTimes(ratios).Median
	for _, of := range []struct {
		r  *runner
		to **benchfile.Counts
	}{{usual, &v.DefaultCounts}, {other, &v.Counts}} {
		a, err := of.r.ask(ctx, request{Do: "count", Steps: countedSteps})
		if err != nil {
			return v, err
		}
		*of.to = a.Counts
	}
	return v, nil
}

func printVariant(v benchfile.Variant) {
	switch {
	case v.NotMeasured != "":
		fmt.Printf("%s, %s: not measured: %s\n", v.Case, v.Setting, v.NotMeasured)
		return
	case v.Error != "":
		fmt.Printf("%s, %s: %s\n", v.Case, v.Setting, strings.TrimSpace(v.Error))
		return
	}
	fmt.Printf("%s, %s: %s, without it %s, %.3f times\n", v.Case, v.Setting, duration(v.Seconds), duration(v.Default), v.Ratio)
}

// saveVariants stores what was measured.
func (o options) saveVariants(all []benchfile.Variant) error {
	if o.variantsFile == "" {
		return nil
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	written := o.variantsFile + ".new"
	if err := os.WriteFile(written, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(written, o.variantsFile)
}
