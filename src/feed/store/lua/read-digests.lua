--[[ read-digests: reads the beginning of some stored records: version and digest, without the contents.
  A script, because Redis cannot read a part of a field of a hash.
  KEYS 1 records    ARGV 1 bytes of each record · further arguments: fields
  RETURN beginning of each record, nil where there is none    Cost O(fields). Never calls TIME. ]]
local heads = {}
for i = 2, #ARGV do
  local record = redis.call('HGET', KEYS[1], ARGV[i])
  heads[i - 1] = record and string.sub(record, 1, tonumber(ARGV[1]))
end
return heads
