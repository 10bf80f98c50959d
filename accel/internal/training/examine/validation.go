package examine

import (
	"fmt"
	"math"
	"strings"
)

// mostCounted is the number of labels of a training set up to which all are read, to know which classes it lacks.
const mostCounted = 1_000_000

// counts returns how many examples of a set have each class; nil without classes in memory. Of large sets it reads
// a part.
func counts(set Set, most int) []int {
	if set.Targets() > 0 || set.Unlabeled() || set.SequenceLength() > 0 || !set.InMemory() || set.Len() == 0 {
		return nil
	}
	all := make([]int, len(set.Classes()))
	for i := range places(set.Len(), most) {
		if label := set.Label(i); label >= 0 && label < len(all) {
			all[label]++
		}
	}
	return all
}

// NewClasses finds classes of the validation set that the training set does not have.
func NewClasses(train, validation Set) []string {
	if train.Len() > mostCounted {
		return nil
	}
	known, asked := counts(train, mostCounted), counts(validation, mostLabels)
	if known == nil || len(asked) != len(known) {
		return nil
	}
	var missing []string
	others := false
	for class, n := range asked {
		switch {
		case n > 0 && known[class] == 0:
			missing = append(missing, train.Classes()[class])
		case n > 0:
			others = true
		}
	}
	const most = 5
	names := strings.Join(missing[:min(most, len(missing))], ", ")
	if len(missing) > most {
		names += " …"
	}
	const advice = "divide the data with RandomSplit, which does not depend on their order"
	switch {
	case len(missing) == 0:
		return nil
	case !others:
		return []string{fmt.Sprintf("the validation set (%s) has only classes that the training set does not have, %s: %s", validation.Name(), names, advice)}
	case len(missing) == 1:
		return []string{fmt.Sprintf("the class %s of the validation set (%s) is not in the training set, so that the model cannot learn it: %s", names, validation.Name(), advice)}
	}
	return []string{fmt.Sprintf("the classes %s of the validation set (%s) are not in the training set, so that the model cannot learn them: %s", names, validation.Name(), advice)}
}

// Judged is the last validation of a training.
type Judged struct {
	Loss, Accuracy   float64 // of the validation; the accuracy is NaN for targets
	Trained, Correct float64 // loss and accuracy of the last pass over the training set
	Spread           float64 // for targets: mean squared error of the mean of those of the training set
	Steps            int
}

// Far finds a validation that is far worse than a guess though the training is good: then the two sets do not mean
// the same.
func (j Judged) Far(train, validation Set) []string {
	if j.Steps < fewSteps || !finite(j.Loss) || !finite(j.Trained) {
		return nil
	}
	guess, share := guesses(train, validation)
	trained, reference := j.Correct > 1.5*share && j.Trained < 0.9*guess, guess
	if share == 0 {
		trained, reference = j.Trained < 0.2*j.Spread, j.Spread
	}
	if !trained || !(guess > 0) {
		return nil
	}
	const check = "check that it has the labels, the scale and the order of columns of the training set"
	large := j.Loss > 3*reference
	about := scales(train, validation)
	switch {
	case large && about != "":
		return []string{fmt.Sprintf("the validation loss is %.3g, though that of the training is %.3g, and %s: prepare both in the same way", j.Loss, j.Trained, about)}
	case share > 0 && (j.Accuracy < 0.5*share || j.Accuracy < 1.1*share && j.Loss > 2*guess && j.Correct > 0.5+0.5*share):
		return []string{fmt.Sprintf("the validation (%s) is as bad as guessing, with an accuracy of %.3g %% and the loss %.3g, though the training has %.3g %% and %.3g: %s",
			validation.Name(), 100*j.Accuracy, j.Loss, 100*j.Correct, j.Trained, check)}
	case share == 0 && large && j.Loss > 0.9*guess:
		return []string{fmt.Sprintf("the validation loss (%s) is %.3g, but always predicting the mean of the training targets gives %.3g there, and the loss of the training is %.3g: %s",
			validation.Name(), j.Loss, guess, j.Trained, check)}
	}
	return nil
}

// guesses returns the loss of a prediction that does not look at the examples of a validation set, the cross-entropy
// or the mean squared error, and the share of its most frequent class; 0 if they are unknown.
func guesses(train, validation Set) (loss, share float64) {
	if all := counts(validation, mostLabels); all != nil {
		total, most := 0, 0
		for _, n := range all {
			total, most = total+n, max(most, n)
		}
		return math.Log(float64(len(all))), float64(most) / float64(max(total, 1))
	}
	width := train.Targets()
	if width == 0 || width != validation.Targets() || !train.InMemory() || !validation.InMemory() || train.Len() == 0 || validation.Len() == 0 {
		return 0, 0
	}
	mean, n := make([]float64, width), 0.
	for i := range places(train.Len(), mostTargets) {
		for k, v := range train.Target(i) {
			mean[k] += float64(v)
		}
		n++
	}
	m := 0.
	for i := range places(validation.Len(), mostTargets) {
		for k, v := range validation.Target(i) {
			d := float64(v) - mean[k]/n
			loss += d * d / float64(width)
		}
		m++
	}
	return loss / m, 0
}

// scales describes examples of two sets whose mean or deviation differ by much; "" if they do not.
func scales(train, validation Set) string {
	if !train.InMemory() || !validation.InMemory() || size(train) == 0 || size(validation) == 0 {
		return ""
	}
	a, da := moments(train)
	b, db := moments(validation)
	if !finite(a+b+da+db) || math.Abs(a-b) <= 3*da && db < 5*da && da < 5*db {
		return ""
	}
	return fmt.Sprintf("the values of its examples have the mean %.3g and the deviation %.3g, those of the training set %.3g and %.3g", b, db, a, da)
}

// moments returns the mean and the deviation of all values of some examples.
func moments(set Set) (mean, deviation float64) {
	sum, squares, n := 0., 0., 0.
	for i := range places(set.Len(), 200) {
		for _, v := range set.Example(i) {
			sum += float64(v)
			squares += float64(v) * float64(v)
			n++
		}
	}
	mean = sum / n
	return mean, math.Sqrt(max(squares/n-mean*mean, 0))
}
