//! One exchange with a model.
