--[[ forget-baseline: the next sweep of a list is a baseline again. Records, sequences, members and whoever is missing stay.
  A sweep under way is cut off: it would end as an ordinary one and put the baseline back.
  Atomic because: a commit between the steps would leave half of that sweep's walk behind.
  KEYS 1 sweep · 2 walk · 3 lease    RETURN {"forgotten"}    Cost O(pages). ]]
redis.call('HDEL', KEYS[1], 'baselineAt', 'checkpoint')
for _, name in ipairs(redis.call('HKEYS', KEYS[2])) do
  if string.sub(name, 1, 2) ~= 'h ' then redis.call('HDEL', KEYS[2], name) end
end
redis.call('DEL', KEYS[3])
return { 'forgotten' }
