package parallel

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// vocabulary is the state of SplitVocabulary.
type vocabulary struct {
	embedding, head string // patterns
	tokens          int    // of the whole vocabulary, if the ranks have divided it
	part            *layer.Partition
	losses          int // how many times CrossEntropy has computed a loss of divided logits
}

// SplitVocabulary makes the ranks along TP divide the tokens of a language model: embedding is the name of its nn.Embedding, and head
// that of its last layer, an nn.Dense or nn.TiedDense, which computes a logit for each token; both may be patterns of path.Match. Each rank has
// the vectors of some of the tokens, and computes their logits. The loss must be [DistributedModel.CrossEntropy], which never has the logits of
// all tokens in one place (Shoeybi et al., Megatron-LM, 2019):
//
//	loss, err := shared.Backward(ctx, b.X, b.Y, shared.CrossEntropy, b.Share())
//
// The number of tokens must be a multiple of the ranks along TP. [DistributedModel.Forward] returns the logits of all tokens.
func SplitVocabulary(embedding, head string) Option {
	return Option{option.New(func(s *settings) { s.vocabulary = &vocabulary{embedding: embedding, head: head} }, "SplitVocabulary", embedding, head)}
}

// splitVocabulary divides the embedding and the last layer.
func (d *distribution) splitVocabulary(modules map[string]nn.Module, names []string) error {
	v := d.vocabulary
	if v == nil {
		return nil
	}
	fail := func(name, format string, args ...any) error {
		return fmt.Errorf("parallel: SplitVocabulary(%q, %q): layer %s: %w", v.embedding, v.head, name, fmt.Errorf(format, args...))
	}
	embeddings, err := matching("SplitVocabulary", v.embedding, names)
	if err != nil {
		return err
	}
	heads, err := matching("SplitVocabulary", v.head, names)
	if err != nil {
		return err
	}
	for _, name := range embeddings {
		l, ok := modules[name].(layer.Vocabulary)
		if !ok || l.DividesVocabulary() {
			return fail(name, "it is %s, but the first pattern is for nn.Embedding", layer.Name(modules[name]))
		}
		if _, err := d.splitLayer(l, false); err != nil {
			return fail(name, "%w", err)
		}
	}
	layers := chain(d.model)
	for _, name := range heads {
		l, ok := modules[name].(layer.Partitioned)
		_, dense := modules[name].(*nn.DenseLayer)
		if tied, isTied := l.(layer.Vocabulary); !ok || !dense && !(isTied && tied.DividesVocabulary()) {
			return fail(name, "it is %s, but the second pattern is for nn.Dense and nn.TiedDense", layer.Name(modules[name]))
		}
		if modules[name] != layers[len(layers)-1] {
			return fail(name, "it is not the last layer of an nn.Sequential, whose results may be the logits of some tokens")
		}
		if v.part, err = d.splitLayer(l, false); err != nil {
			return fail(name, "%w", err)
		}
		v.tokens = d.outputsOf(modules[name])
	}
	return nil
}

// outputsOf returns the number of logits of all ranks.
func (d *distribution) outputsOf(head nn.Module) int {
	for _, p := range nn.Parameters(head) {
		if p.NDim() == 2 {
			return p.Size(0) * d.mesh.TP.Size()
		}
	}
	return 0
}

// dividesLogits reports whether each rank along TP computes some of the logits.
func (d *distribution) dividesLogits() bool { return d.vocabulary != nil && d.vocabulary.part != nil }

// wholeLogits returns the results of the last layer of all ranks along TP.
func (d *distribution) wholeLogits(y *tensor.Tensor) *tensor.Tensor {
	if !d.dividesLogits() {
		return y
	}
	defer y.Release()
	p, each := d.vocabulary.part, y.Size(-1)
	padded := y.Pad(-1, p.Rank*each, (p.Size-1-p.Rank)*each)
	defer padded.Release()
	return p.Sum(padded)
}

// checked returns the loss, which must compute the cross-entropy of divided logits.
func (d *distribution) checked(loss func(prediction, target *tensor.Tensor) *tensor.Tensor) func(prediction, target *tensor.Tensor) *tensor.Tensor {
	if !d.dividesLogits() {
		return loss
	}
	return func(prediction, target *tensor.Tensor) *tensor.Tensor {
		before := d.vocabulary.losses
		l := loss(prediction, target)
		if d.vocabulary.losses == before {
			panic(&tensor.StateError{Op: "SplitVocabulary", Hint: "each rank has the logits of some of the tokens: pass the method CrossEntropy of the DistributedModel to Backward as the loss"})
		}
		return l
	}
}

// CrossEntropy is nn.CrossEntropy, also for the logits of a rank if [SplitVocabulary] divides them: [N, C] or [N, T, C] with the class
// indices [N] or [N, T], of which the ranks exchange only the sum of exponentials. It is the loss for [DistributedModel.Backward] on any mesh.
func (m *DistributedModel) CrossEntropy(logits, classes *tensor.Tensor) *tensor.Tensor {
	d := m.distribution()
	if !d.dividesLogits() || logits.NDim() > 0 && logits.Size(-1) == d.vocabulary.tokens {
		return nn.CrossEntropy(logits, classes)
	}
	v := d.vocabulary
	p, shape := v.part, logits.Shape()
	if n := len(shape); n < 2 || shape[n-1] != v.tokens/p.Size || !slices.Equal(shape[:n-1], classes.Shape()) || classes.Numel() == 0 {
		panic(&tensor.ShapeError{Op: "CrossEntropy", Shapes: [][]int{shape, classes.Shape()}, Hint: fmt.Sprintf("the logits of a rank must be [… %d], and the classes […]", v.tokens/p.Size)})
	}
	if classes.DType().IsFloat() {
		panic(&tensor.DTypeError{Op: "CrossEntropy", DTypes: []tensor.DType{logits.DType(), classes.DType()}, Hint: "classes must be integers: labels.Cast(tensor.Int32) converts them"})
	}
	v.losses++
	defer nameClass(v.tokens)
	return dividedCrossEntropy(p, logits, classes, v.tokens)
}

// nameClass is deferred: it makes a panic about the index of a token one about a class, as that of nn.CrossEntropy.
func nameClass(tokens int) {
	p := recover()
	if p == nil {
		return
	}
	if of, ok := p.(*tensor.IndexError); ok && of.Op == "IndexSelect" && of.Size == tokens {
		class := *of
		class.Op = "CrossEntropy"
		panic(&class)
	}
	panic(p)
}

// dividedCrossEntropy computes the mean of ln Σ exp(logits) - logits[class]. Of each row, a rank contributes the logarithm of the sum over its
// own tokens, and the logit of the class if it has it. Between the passes it keeps only the logits and a few numbers of each row.
func dividedCrossEntropy(p *layer.Partition, logits, classes *tensor.Tensor, tokens int) *tensor.Tensor {
	n, each := classes.Numel(), logits.Size(-1)
	rowsOf := func(keep func(*tensor.Tensor) *tensor.Tensor, t *tensor.Tensor) *tensor.Tensor {
		return keep(keep(t.Cast(tensor.Float32)).Reshape(n, each))
	}
	var kept, total, label *tensor.Tensor // the logits, [n, 1] and [n, 1]: the index of the class, -1 if it is another rank's
	forward := func(x *tensor.Tensor) (loss *tensor.Tensor) {
		_ = plain(func(keep func(*tensor.Tensor) *tensor.Tensor) error {
			kept = x.Detach()
			rows := rowsOf(keep, kept)
			mine, local, zero := p.Own(keep, keep(classes.Reshape(n)), tokens)
			label = tensor.Where(keep(mine.Reshape(n, 1)), keep(keep(local.Reshape(n, 1)).Cast(tensor.Float32)), keep(tensor.Full(-1)))
			ofClass := tensor.Where(mine, keep(keep(rows.Gather(1, keep(local.Reshape(n, 1)))).Reshape(n)), zero)
			contributions := slices.Repeat([]*tensor.Tensor{zero}, p.Size+1)
			contributions[p.Rank], contributions[p.Size] = keep(rows.LogSumExp(1)), keep(ofClass)
			all := keep(p.Sum(keep(tensor.Stack(0, contributions...))))
			sum := keep(keep(all.Slice(0, 0, p.Size)).LogSumExp(0))
			total = sum.Reshape(n, 1)
			loss = keep(sum.Sub(keep(keep(all.Slice(0, p.Size, p.Size+1)).Reshape(n)))).Mean()
			return nil
		})
		return loss
	}
	backward := func(dy *tensor.Tensor) (dx *tensor.Tensor) { // (softmax(logits) - one-hot(class))·dy/n
		_ = plain(func(keep func(*tensor.Tensor) *tensor.Tensor) error {
			positions := make([]float32, each)
			for i := range positions {
				positions[i] = float32(i)
			}
			one := keep(keep(keep(tensor.New(positions, 1, each)).Eq(keep(label))).Cast(tensor.Float32))
			softmax := keep(keep(rowsOf(keep, keep(kept)).Sub(keep(total))).Exp())
			scaled := keep(keep(softmax.Sub(one)).Mul(keep(dy.MulScalar(1 / float64(n)))))
			dx = keep(scaled.Cast(logits.DType())).Reshape(logits.Shape()...)
			return nil
		})
		return dx
	}
	return tensors.Exchange(logits, forward, backward)
}
