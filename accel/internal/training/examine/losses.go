package examine

import (
	"fmt"
	"slices"
	"strings"
)

// Negative is the finding for a loss that is below 0 in a step. name is that of a loss of this library, "" for
// another one, of which minus says that it is a negative cross-entropy.
func Negative(loss float64, name string, step int, minus bool) []string {
	if !(loss < -1e-4) {
		return nil
	}
	what := fmt.Sprintf("the loss is %.3g in step %d, but ", loss, step)
	switch {
	case name == "" && minus:
		return []string{what + "cross-entropy cannot be negative, and training makes the loss smaller: remove the minus before it"}
	case name == "KLDiv":
		return []string{what + "KLDiv cannot be negative: it takes logarithms of probabilities, as nn.LogSoftmax(-1) returns them, and probabilities"}
	case name == "NLL" || name == "NLLLoss":
		return []string{what + name + " cannot be negative: it takes logarithms of probabilities, as nn.LogSoftmax(-1) returns them"}
	case strings.HasPrefix(name, "BCEWithLogits") || name == "FocalLoss":
		return []string{what + name + " cannot be negative: its targets must be from 0 to 1"}
	case slices.Contains([]string{"CrossEntropy", "CrossEntropyLoss"}, name):
		return []string{what + name + " cannot be negative: probabilities as targets must be from 0 to 1"}
	}
	return nil
}

// Range is that of targets.
type Range struct{ Low, High float64 }

// Outside finds targets that a loss of probabilities does not take.
func (r Range) Outside(loss string) []string {
	if !slices.Contains([]string{"BCEWithLogits", "BCEWithLogitsLoss", "FocalLoss", "KLDiv"}, loss) || !(r.Low < 0 || r.High > 1) {
		return nil
	}
	return []string{fmt.Sprintf("the targets reach from %.3g to %.3g, but %s takes probabilities as targets, from 0 to 1: scale them, or use nn.MSE", r.Low, r.High, loss)}
}

// Beyond finds predictions that cannot reach the targets of a regression, since they end with an activation.
func (r Range) Beyond(op string) []string {
	slack := 0.01 * (r.High - r.Low)
	low, high := r.Low+slack, r.High-slack
	const advice = "remove it, or scale the targets"
	switch {
	case op == "Sigmoid" && (low < 0 || high > 1):
		return []string{fmt.Sprintf("the model ends with a sigmoid, from 0 to 1, but the targets reach from %.3g to %.3g: %s", r.Low, r.High, advice)}
	case op == "Tanh" && (low < -1 || high > 1):
		return []string{fmt.Sprintf("the model ends with tanh, from -1 to 1, but the targets reach from %.3g to %.3g: %s", r.Low, r.High, advice)}
	case op == "ReLU" && low < 0:
		return []string{fmt.Sprintf("the model ends with ReLU, which is never negative, but the targets reach from %.3g to %.3g: %s", r.Low, r.High, advice)}
	}
	return nil
}

// NoGradient finds parameters without a gradient, and layers that have not seen an input.
func NoGradient(parameters, layers []string) (found []string) {
	if names := list(parameters); names != "" {
		found = append(found, fmt.Sprintf("no step gave a gradient to %s, which therefore did not change: use it in Forward, without Detach and NoGrad between it and the loss, or freeze it with nn.Freeze", names))
	}
	if names := list(layers); names != "" {
		found = append(found, fmt.Sprintf("no step used %s of the model: use it in Forward, or remove it", "layer "+names))
	}
	return found
}

// list returns the first few names.
func list(names []string) string {
	const most = 4
	text := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
