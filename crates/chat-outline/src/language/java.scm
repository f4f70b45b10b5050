(class_declaration name: (identifier) @name) @type
(record_declaration name: (identifier) @name) @type
(enum_declaration name: (identifier) @name) @type
(interface_declaration name: (identifier) @name) @interface
(annotation_type_declaration name: (identifier) @name) @interface
(method_declaration name: (identifier) @name) @function
(constructor_declaration name: (identifier) @name) @function
