(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @type
