package quiz

import "rdmaprep/content"

// render fills a question's templates for a variant seed.
func render(q *content.Question, variant uint64) (*content.Question, map[string]any, error) {
	if q.Variants == nil {
		return q, nil, nil
	}
	return q.Render(variant)
}
