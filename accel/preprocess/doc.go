// Package preprocess turns the columns of a data frame into the numbers that a model is trained with.
//
// [Fit] learns what the training rows have, such as means and categories, and [Transform.Dataset]
// applies it to any rows, so that nothing of the test rows influences the training:
//
//	train, test := passengers.RandomSplit(0.8, 1)
//	t, err := preprocess.Fit(train, preprocess.Class("survived"),
//		preprocess.Numbers("age", "fare").Impute(preprocess.Median),
//		preprocess.Categories("sex", "class"))
//	if err != nil { … }
//	trainSet, err := t.Dataset(train)
//	testSet, err := t.Dataset(test)
//
// It corresponds to ColumnTransformer with SimpleImputer, StandardScaler and OneHotEncoder in
// scikit-learn, and computes the same values. Data sets have the names of columns and classes, which
// accel.Fit, Evaluate and Predict compare.
//
// [Transform.Save] writes a file that [Load] reads, beside the parameters that nn.Save writes. [Transform.ExportONNX] writes
// the preparation and the model to one file, for programs in other languages.
package preprocess
