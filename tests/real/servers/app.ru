# Rack, for puma.
require "json"
run(lambda do |_environment|
  body = JSON.generate(items: Array.new(20) { |id| { id: id, name: "n#{id}" } })
  [200, { "content-type" => "application/json", "content-length" => body.bytesize.to_s }, [body]]
end)
