package loop

import (
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/examine"
	"github.com/quernlab/quern/accel/tensor"
)

// answers decides whether predictions are scores of the classes of a data set, of which the largest is the
// answer of the model. Embeddings and what nn.Pack returns are not, and have no accuracy.
type answers struct {
	labeled bool   // the data set has classes, not targets
	classes int    // their number
	loss    string // name of the loss in this library; "" for a function of the user
}

// answersTo returns the decision for a data set and the loss that the model is trained with.
func answersTo(set *data.Dataset, loss func(prediction, target *tensor.Tensor) *tensor.Tensor) answers {
	return answers{labeled: set.Targets() == 0, classes: len(set.Classes()), loss: lossName(loss)}
}

// classification reports whether the loss takes a score for each class.
func (a answers) classification() bool {
	return slices.Contains([]string{"CrossEntropy", "CrossEntropyLoss", "NLL", "NLLLoss"}, a.loss)
}

// in reports whether a prediction has the answers. loss is that of the prediction, before Backward.
func (a answers) in(prediction, loss *tensor.Tensor) bool {
	rank := prediction.NDim()
	switch {
	case !a.labeled || rank != 2 && rank != 3:
		return false
	case a.classification():
		return true
	}
	return a.loss == "" && prediction.Size(rank-1) == a.classes && !examine.Divided(tensors.Tape(loss, prediction))
}

// lossName returns the name of a loss of package nn or tensor, such as "NLL", and "" for other functions.
func lossName(loss func(prediction, target *tensor.Tensor) *tensor.Tensor) string {
	if loss == nil {
		return ""
	}
	at := reflect.ValueOf(loss).Pointer()
	f := runtime.FuncForPC(at)
	if f == nil {
		return ""
	}
	file, _ := f.FileLine(at)
	if folder := path.Dir(file); !strings.HasSuffix(folder, "/accel/nn") && !strings.HasSuffix(folder, "/accel/tensor") {
		return ""
	}
	parts := strings.Split(f.Name()[strings.LastIndex(f.Name(), "/")+1:], ".")
	for i, p := range slices.Backward(parts) { // "nn.NLLLoss.func1"; inlined, "main.main.NLLLoss.func1"
		if i > 0 && !strings.HasPrefix(p, "func") && strings.Trim(p, "0123456789") != "" {
			return p
		}
	}
	return ""
}
