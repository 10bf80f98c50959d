package models_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// classifier is BERT with the head of transformers' BertForSequenceClassification: the embedded model
// and the tags give the parameters the same names.
type classifier struct {
	*models.BERTModel
	Pooler nn.Module `nn:"bert.pooler.dense"`
	Head   nn.Module `nn:"classifier"`
}

func (c *classifier) Forward(x *nn.Tensor) *nn.Tensor {
	first := c.Encode(x.Cast(tensor.Int32), nil, nil).Slice(1, 0, 1).Flatten(1)
	return c.Head.Forward(c.Pooler.Forward(first).Tanh())
}

// loadClassifier reads the weights that the folder has; layers that it lacks have random ones.
func loadClassifier(folder string, classes int) (*classifier, error) {
	text, err := os.ReadFile(filepath.Join(folder, "config.json"))
	if err != nil {
		return nil, err
	}
	var config models.BERTConfig
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	model := &classifier{models.BERT(config), nn.Dense(config.Width), nn.Dense(classes)}
	return model, nn.Load(folder, model, nn.Partial())
}

// A pretrained BERT is fine-tuned to classify texts.
func ExampleBERTModel_Encode() {
	accel.Seed(1)
	model, err := loadClassifier("testdata/bert", 2)
	if err != nil {
		log.Fatal(err)
	}
	texts, err := data.Sequences([][]int{{2, 9, 7, 3}, {2, 5, 6, 3}, {2, 9, 8, 3}, {2, 5, 4, 3}}, []int{1, 0, 1, 0}, 0)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if _, err := accel.Fit(ctx, model, texts, accel.Epochs(20), accel.AdamW(1e-2), accel.Quiet()); err != nil {
		log.Fatal(err)
	}
	result, err := accel.Evaluate(ctx, model, texts)
	fmt.Println(result.Accuracy(), err)
	// Output: 1 <nil>
}
