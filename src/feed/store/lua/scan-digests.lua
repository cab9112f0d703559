--[[ scan-digests: reads the beginning of some stored records of a list: version and digest, without the contents.
  KEYS 1 records    ARGV 1 cursor · 2 records wanted, roughly · 3 bytes of each record
  RETURN next cursor ("0" after the last), records (field, beginning, …)    Cost O(records wanted). Never calls TIME. ]]
local scanned = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
for i = 2, #scanned[2], 2 do scanned[2][i] = string.sub(scanned[2][i], 1, tonumber(ARGV[3])) end
return scanned
