local numbers = require "numbers"
numbers.beside_a_stranger(function(what, figure) print(what .. "\t" .. figure) end, tonumber(arg[1]) or 4)
