package nn

import (
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// Option changes what a function of this package returns or does. Each function lists those that it
// takes. With another one, or with arguments that are invalid, it panics with a *tensor.StateError;
// [Load] returns the error:
//
//	nn.MaxPool2D(2, nn.NoBias()) // MaxPool2D: does not take NoBias(): its options are Stride and Padding
type Option struct{ setting }

type setting = option.Of[options]

// options are the settings of all options of the package.
type options struct {
	noBias       bool                  // NoBias
	window       tensor.Window         // Stride, Padding, Groups, Dilation
	same         bool                  // Same
	end          int                   // OutputPadding
	epsilon      float64               // Epsilon
	causal       bool                  // Causal
	dropped      float64               // AttentionDropout
	ropeBase     float64               // RoPE; 0 for none
	headSize     int                   // HeadSize
	layers       int                   // NumLayers
	directions   int                   // Bidirectional: 2
	between      float64               // LayerDropout
	last, relu   bool                  // LastOutput, WithReLU
	feedForward  int                   // FeedForward
	dropout      float64               // TransformerDropout
	normFirst    bool                  // NormFirst
	gelu         bool                  // WithGELU
	bag          bagFunc               // BagSum, BagMax
	without      *int                  // BagPadding
	perChannel   bool                  // PerChannel
	bilinear     bool                  // Bilinear
	statistics   bool                  // FreezeStatistics
	weights      []float64             // ClassWeights; nil for 1
	ignore       *int                  // IgnoreIndex
	smoothing    float64               // LabelSmoothing
	blank        int                   // Blank
	zeroInfinity bool                  // ZeroInfinity
	rules        []func(string) string // Rename
	partial      bool                  // Partial
	report       *LoadReport           // Report

	text []string // as Go expressions, in the order in which they were given
}

// read changes settings by the options that are given to a function, and panics for those that it does
// not take.
func (o options) read(function string, given []Option, takes ...string) options {
	if hint := option.Reason(&o, given, takes...); hint != "" {
		panic(&tensor.StateError{Op: function, Hint: hint})
	}
	o.text = option.Texts(given)
	return o
}

// call returns the call of a function with these arguments and the options as Go code.
func (o options) call(function string, arguments ...int) string {
	all := make([]string, len(arguments))
	for i, a := range arguments {
		all[i] = fmt.Sprint(a)
	}
	return function + "(" + strings.Join(append(all, o.text...), ", ") + ")"
}
