package history

import (
	"fmt"

	"github.com/quernlab/quern/internal/quantity"
)

// MissingParametersError reports that a model computes with parameters that nn.Parameters does
// not find in it, so that no optimizer would update them: those of layers that a function
// captures, for instance.
type MissingParametersError struct {
	Shapes [][]int // of the missing parameters
	Found  int     // number of parameters that were found in the model
}

// Error lists the shapes of the missing parameters and says how nn.Parameters can find them.
func (e *MissingParametersError) Error() string {
	return fmt.Sprintf("accel: nn.Parameters finds %s in the model, but the model also computes with %s that it does not find, of shape %s: "+
		"training would not update these. Keep layers in fields of the model, pass the layers that a function uses to nn.Lambda (nn.Lambda(f, layer, …)), or freeze them with nn.Freeze",
		quantity.Plural(e.Found, "parameter"), quantity.Plural(len(e.Shapes), "parameter"), shapesText(e.Shapes))
}

// shapesText lists the first few shapes.
func shapesText(shapes [][]int) string {
	const most = 3
	text := fmt.Sprint(shapes[:min(most, len(shapes))])
	text = text[1 : len(text)-1]
	if len(shapes) > most {
		text += " …"
	}
	return text
}
