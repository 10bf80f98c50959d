package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/quernlab/quern/accel/internal/benchfile"
	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/internal/atomicfile"
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
	prepared, err := m.prepareRunner(ctx, usual)
	if err != nil {
		return err
	}
	var all []benchfile.Variant
	for _, setting := range o.variants {
		if err := ctx.Err(); err != nil {
			return err
		}
		v, err := m.measureVariant(ctx, usual, prepared.Losses, setting)
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

// measureVariant measures one setting.
func (m *measurement) measureVariant(ctx context.Context, usual *runner, usualLosses []float64, setting string) (v benchfile.Variant, err error) {
	v = benchfile.Variant{Case: usual.name, Setting: setting}
	other := &runner{process: &process{options: m.options, framework: "quern", variables: []string{variableOf(setting)}}, benchCase: usual.benchCase}
	defer other.close()
	a, err := m.prepareRunner(ctx, other)
	if err != nil {
		return v, err
	}
	if why := difference("the default", usualLosses, a.Losses, firstToleranceHalf); why != "" {
		return v, errors.New(why)
	}
	for i, l := range a.Losses {
		v.LossDifference = max(v.LossDifference, math.Abs(l-usualLosses[i])/max(math.Abs(usualLosses[i]), 1e-6))
	}
	usual.steps, usual.seconds = 1, nil
	for round := range m.options.rounds + 1 {
		for _, r := range []*runner{usual, other} {
			if err := m.round(ctx, r, round); err != nil {
				return v, err
			}
		}
	}
	v.DefaultTimes, v.Times = usual.seconds, other.seconds
	var ratios []float64
	for i, each := range v.Times {
		ratios = append(ratios, each/v.DefaultTimes[i])
	}
	v.Default, v.Seconds, v.Ratio = newTimes(v.DefaultTimes).Median, newTimes(v.Times).Median, newTimes(ratios).Median
	if v.DefaultCounts, err = usual.counts(ctx); err != nil {
		return v, err
	}
	v.Counts, err = other.counts(ctx)
	return v, err
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
	return atomicfile.Replace(o.variantsFile, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}
